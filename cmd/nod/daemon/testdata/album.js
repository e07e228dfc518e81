// Copies elements of the sandbox's page into an album, and lays them out on
// sheets. The function takes the styles of the sheets.
(css) => {
  window.album = {};
  window.keepShot = (sheet, caption, e) => {
    const copy = e.cloneNode(true);
    const inputs = e.querySelectorAll("input, textarea, option");
    copy.querySelectorAll("input, textarea, option").forEach((to, n) => {
      const from = inputs[n];
      if (to.tagName === "TEXTAREA") to.textContent = from.value;
      else if (to.tagName === "OPTION") to.toggleAttribute("selected", from.selected);
      else if (/radio|checkbox/.test(from.type)) to.toggleAttribute("checked", from.checked);
      else to.setAttribute("value", from.value);
    });
    for (const d of copy.querySelectorAll("details.notification, button.answer, button.reply")) d.remove();
    (window.album[sheet] ||= []).push({ caption, copy });
  };
  const sheets = new CSSStyleSheet(); // the page allows no style elements
  sheets.replaceSync(css);
  document.adoptedStyleSheets = [sheets];
  window.layOut = (sheet, service, width, columns, gray) => {
    document.querySelector("#sheet")?.remove();
    document.body.className = "sheet" + (gray ? " gray" : "");
    const at = document.createElement("div");
    at.id = "sheet";
    at.style.setProperty("--n", columns);
    at.style.setProperty("--w", width + "px");
    for (const shot of window.album[sheet] || []) {
      const figure = document.createElement("figure");
      figure.innerHTML = '<figcaption></figcaption><section class="service"></section>';
      figure.firstChild.textContent = shot.caption;
      figure.lastChild.id = service;
      figure.lastChild.append(shot.copy.cloneNode(true));
      at.append(figure);
    }
    document.body.append(at);
    scrollTo(0, 0);
  };
}
