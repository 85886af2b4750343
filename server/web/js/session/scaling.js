// @ts-check
// Scales pictures down before they are uploaded: agents see no more of larger ones, and mobile data is dear.

import { make } from "../dom.js";

const MAX_SIDE = 1568; // pixels
const QUALITY = 0.9;
const SMALL = 256 * 1024; // bytes, below which a picture is left as it is

/** Whether a picture can be scaled; an animation would be lost. @param {File} file */
export const isScalable = (file) => file.type.startsWith("image/") && !/svg|gif/.test(file.type);

/** @param {File} file @returns {Promise<Blob>} a smaller picture, or the file itself */
export async function scaleDown(file) {
  if (!isScalable(file)) return file;
  try {
    const bitmap = await createImageBitmap(file, { imageOrientation: "from-image" });
    const scale = Math.min(1, MAX_SIDE / Math.max(bitmap.width, bitmap.height));
    const isReadable = /png|jpeg|webp/.test(file.type); // cameras of phones may have other formats
    if (isReadable && scale === 1 && file.size <= SMALL) return file;
    const canvas = make("canvas", { width: Math.round(bitmap.width * scale), height: Math.round(bitmap.height * scale) });
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    bitmap.close();
    const type = file.type === "image/png" && scale === 1 ? "image/png" : "image/jpeg";
    const scaled = await new Promise((/** @type {(scaled: Blob | null) => void} */ resolve) => canvas.toBlob(resolve, type, QUALITY));
    return scaled && (!isReadable || scale < 1 || scaled.size < file.size) ? scaled : file;
  } catch {
    return file; // Spinney reports what is wrong with it
  }
}
