// @ts-check
// Attached files that are not uploaded yet, kept in the browser over a reload by the message that they belong to.

/**
 * @typedef {object} KeptFile
 * @property {string} id
 * @property {string} place a session's id, or `NEW_TASK`
 * @property {string} name
 * @property {boolean} isImage
 * @property {Blob} data
 * @property {number} at when it was attached, in ms
 */

export const NEW_TASK = "new";
const STORE = "attachments";
const MAX_FILES = 50;
const MAX_AGE = 30 * 24 * 3600 * 1000; // ms, after which a file is dropped whose session was perhaps deleted

/** @type {Promise<IDBDatabase> | undefined} */
let opened;

/** Keep a file. Returns whether it is kept: the browser may have no room, or no storage in a private window. @param {KeptFile} file */
export async function keepFile(file) {
  try {
    const kept = await readAll();
    const old = kept.filter(({ at }) => at < Date.now() - MAX_AGE);
    if (kept.length - old.length >= MAX_FILES) return false;
    await inTransaction((store) => {
      for (const { id } of old) store.delete(id);
      return store.put(file);
    });
    return true;
  } catch {
    return false;
  }
}

/** The files kept for a message, in order. @param {string} place @returns {Promise<KeptFile[]>} */
export async function keptFiles(place) {
  const kept = await readAll().catch(() => []);
  return kept.filter((file) => file.place === place).sort((a, b) => a.at - b.at);
}

/** Stop keeping a file. Returns whether it was kept until now: another tab may have uploaded or removed it. @param {string} id */
export async function releaseFile(id) {
  try {
    const key = await inTransaction((store) => {
      const found = store.getKey(id);
      store.delete(id);
      return found;
    });
    return key !== undefined;
  } catch {
    return true; // rather attached twice than lost
  }
}

/** @returns {Promise<KeptFile[]>} */
const readAll = () => inTransaction((store) => store.getAll());

/**
 * Resolves with the result of a request when its transaction has ended.
 * @template Result
 * @param {(store: IDBObjectStore) => IDBRequest<Result>} start
 * @returns {Promise<Result>}
 */
async function inTransaction(start) {
  opened ??= openDatabase();
  const transaction = (await opened).transaction(STORE, "readwrite");
  const request = start(transaction.objectStore(STORE));
  return new Promise((resolve, reject) => {
    transaction.addEventListener("complete", () => resolve(request.result));
    transaction.addEventListener("abort", () => reject(transaction.error));
  });
}

/** @returns {Promise<IDBDatabase>} */
function openDatabase() {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open("spinney", 1);
    request.addEventListener("upgradeneeded", () => request.result.createObjectStore(STORE, { keyPath: "id" }));
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error));
  });
}
