"""Nonsense in bulk: whatever comes, pliant answers with a result or with a sentence, and soon."""
