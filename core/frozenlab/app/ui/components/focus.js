// Which keys belong to the element that has the focus; put before what listens to the keyboard of the whole page.

const TEXT = "textarea, select, [contenteditable=true], [role=combobox], [role=textbox], "
  + "input:not([type=checkbox], [type=radio], [type=range], [type=button], [type=submit])";
const PRESSED = "button, a[href], summary, input, [role=button], [role=radio], [role=checkbox], [role=switch], [role=tab], [role=link]";
const STEPPED = "input[type=range], input[type=radio], [role=slider], [role=radio], [role=tab], [role=menuitem], [role=option], [role=gridcell]";

function belongs(event) {
  const target = event.composedPath()[0];
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return true;
  if (!(target instanceof Element)) return false;
  if (target.closest(TEXT) || document.querySelector("[role=dialog]") || document.documentElement.dataset.sheet) return true;
  if (event.key === " " || event.key === "Enter") return Boolean(target.closest(PRESSED));
  return /^(Arrow|Home|End|Page)/.test(event.key) && Boolean(target.closest(STEPPED));
}
