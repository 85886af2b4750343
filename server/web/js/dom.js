// @ts-check
// Elements are made of names, classes and text. No HTML text is ever parsed.

/**
 * @typedef {Node | string | number | null | undefined | false | Record<string, unknown>} Part
 * @typedef {Part | Part[]} Parts
 */

/**
 * `make("p.note", "text", child, { title: "…" })`: an element with its classes, children and
 * properties. `on…` properties are listeners; `aria-…` and `data-…` names are attributes.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name | `${Name}.${string}`} what
 * @param {...Parts} parts
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(what, ...parts) {
  const [name, ...classes] = what.split(".");
  const element = document.createElement(/** @type {Name} */ (name));
  if (classes.length) element.classList.add(...classes);
  for (const part of parts.flat()) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) element.append(part);
    else if (typeof part === "object") set(element, part);
    else element.append(String(part));
  }
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {Record<string, unknown>} properties
 */
function set(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.includes("-") || name === "role") element.setAttribute(name, String(value));
    else Reflect.set(element, name, value);
  }
}

/**
 * A button that does one thing at a time: while `action` runs it takes no second press.
 * @param {Parts} label
 * @param {(event: MouseEvent) => unknown} action
 * @param {string} [look] classes, as `.primary`
 * @param {Record<string, unknown>} [properties]
 */
export function button(label, action, look = "", properties = {}) {
  const made = make(/** @type {"button"} */ (`button${look}`), label, { type: "button" }, properties);
  made.onclick = async (event) => {
    made.disabled = true;
    try {
      await action(event);
    } finally {
      made.disabled = false;
    }
  };
  return made;
}

/**
 * Puts these children into the element, keeping those that are there already. What goes is taken out first, so that
 * what stays is not moved for it: a moved element loses the keys, and the press of whoever holds it down.
 * @param {Element} element
 * @param {Iterable<Node>} wanted
 */
export function place(element, wanted) {
  const kept = new Set(wanted);
  for (const child of [...element.childNodes]) if (!kept.has(/** @type {Node} */ (child))) child.remove();
  let here = element.firstChild;
  for (const child of kept) {
    if (child === here) here = here.nextSibling;
    else element.insertBefore(child, here);
  }
}

/**
 * Puts these children into the element; one that is there already as it should be stays, and with it the keys
 * and whatever is pressed.
 * @param {Element} element
 * @param {Element[]} wanted
 */
export function renew(element, wanted) {
  const old = [...element.children];
  const kept = wanted.map((child) => {
    const at = old.findIndex((known) => known.isEqualNode(child));
    return at < 0 ? child : old.splice(at, 1)[0];
  });
  place(element, kept);
}

/**
 * A list whose items are kept by key, so that what did not change is not drawn again.
 * @template Item
 * @param {Element} element
 * @param {Iterable<Item>} items
 * @param {(item: Item) => string} key
 * @param {(item: Item, old: HTMLElement | undefined) => HTMLElement} draw gets the old element, and gives it
 *   back where it still holds
 */
export function placeKeyed(element, items, key, draw) {
  const old = new Map();
  for (const child of element.children) old.set(/** @type {HTMLElement} */ (child).dataset.key, child);
  const wanted = [];
  for (const item of items) {
    const drawn = draw(item, old.get(key(item)));
    drawn.dataset.key = key(item);
    wanted.push(drawn);
  }
  place(element, wanted);
}
