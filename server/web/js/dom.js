// @ts-check
// Creates and updates elements. HTML text is never parsed.

/**
 * @typedef {Node | string | number | null | undefined | false | Record<string, unknown>} Part
 * @typedef {Part | Part[]} Parts
 */

/**
 * Create an element with classes, children and properties: `make("p.note", "text", child, { title: "…" })`.
 * `on…` properties are listeners, whose results are ignored: what a handler that is set as `element.onkeydown` returns
 * can cancel the key. `aria-…` and `data-…` names are attributes.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name | `${Name}.${string}`} selector
 * @param {...Parts} parts
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function make(selector, ...parts) {
  const [name, ...classes] = selector.split(".");
  const element = document.createElement(/** @type {Name} */ (name));
  if (classes.length) element.classList.add(...classes);
  for (const part of parts.flat()) {
    if (part === null || part === undefined || part === false) continue;
    if (part instanceof Node) element.append(part);
    else if (typeof part === "object") setProperties(element, part);
    else element.append(String(part));
  }
  return element;
}

/**
 * @param {HTMLElement} element
 * @param {Record<string, unknown>} properties
 */
function setProperties(element, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (name.includes("-") || name === "role") element.setAttribute(name, String(value));
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else Reflect.set(element, name, value);
  }
}

/**
 * Create a button that is disabled while `action` runs.
 * @param {Parts} label
 * @param {(event: MouseEvent) => unknown} action
 * @param {string} [classes] as in `make`: `.primary`
 * @param {Record<string, unknown>} [properties]
 */
export function button(label, action, classes = "", properties = {}) {
  const control = make(/** @type {"button"} */ (`button${classes}`), label, { type: "button" }, properties);
  control.addEventListener("click", async (event) => {
    control.disabled = true;
    try {
      await action(event);
    } finally {
      control.disabled = false;
    }
  });
  return control;
}

/**
 * Replace an element's children, keeping those that it already has. Other children are removed first, so that kept
 * ones are not moved: a moved element loses the focus and a press in progress.
 * @param {Element} element
 * @param {Iterable<Node>} children
 */
export function syncChildren(element, children) {
  const kept = new Set(children);
  for (const child of [...element.childNodes]) if (!kept.has(/** @type {Node} */ (child))) child.remove();
  let next = element.firstChild;
  for (const child of kept) {
    if (child === next) next = next.nextSibling;
    else element.insertBefore(child, next);
  }
}

/**
 * Replace an element's children, keeping those that are equal to a new child, and with them the focus and a press in
 * progress.
 * @param {Element} element
 * @param {Element[]} children
 */
export function patchChildren(element, children) {
  const old = [...element.children];
  const kept = children.map((child) => {
    const index = old.findIndex((candidate) => candidate.isEqualNode(child));
    return index < 0 ? child : old.splice(index, 1)[0];
  });
  syncChildren(element, kept);
}

/**
 * Replace an element's children by the items of a list, keeping elements by key.
 * @template Item
 * @param {Element} element
 * @param {Iterable<Item>} items
 * @param {(item: Item) => string} key
 * @param {(item: Item, old: HTMLElement | undefined) => HTMLElement} draw gets the old element, and returns
 *   it if it is still up to date
 */
export function syncKeyed(element, items, key, draw) {
  const old = new Map();
  for (const child of element.children) old.set(/** @type {HTMLElement} */ (child).dataset.key, child);
  const children = [];
  for (const item of items) {
    const child = draw(item, old.get(key(item)));
    child.dataset.key = key(item);
    children.push(child);
  }
  syncChildren(element, children);
}
