
(function () {
  var svg = document.documentElement;
  function show(group) {
    if (!group) { svg.setAttribute('viewBox', svg.getAttribute('data-whole')); return; }
    var b = group.getBBox(), k = svg.getScreenCTM().inverse().multiply(group.getScreenCTM());
    var w = k.a * b.width, h = k.d * b.height;
    svg.setAttribute('viewBox', [k.a * b.x + k.e - w / 25, k.d * b.y + k.f - h / 25, w * 1.08, h * 1.08].join(' '));
  }
  svg.addEventListener('click', function (event) {
    var part = event.target.closest('.component'), open = part && part.classList.contains('open');
    if (!part || (open && !event.target.closest('.handle'))) { show(part); return; }
    part.classList.toggle('open');
    show(open ? part.parentNode.closest('.component') : part);
  });
})();
