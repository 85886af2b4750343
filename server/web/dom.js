// Elements are made of names, classes and text. No HTML text is ever parsed.

/** `make("p.note", "text", child, …)`; an object sets properties and `on…` listeners. */
export function make(what, ...parts) {
  const [name, ...classes] = what.split(".");
  const element = document.createElement(name);
  element.classList.add(...classes);
  for (const part of parts.flat()) {
    if (part === null || part === undefined || part === false) continue;
    if (typeof part === "string" || part instanceof Node) element.append(part);
    else Object.assign(element, part);
  }
  return element;
}

/** A button that can be pressed once until what it does is done. */
export function button(label, action, look = "") {
  const made = make(`button${look}`, label, { type: "button" });
  made.onclick = async () => {
    made.disabled = true;
    await action();
    made.disabled = false;
  };
  return made;
}
