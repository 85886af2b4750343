// @ts-check
// Pictures of projects. They are behind the token, so they are fetched, once each.

import { make } from "./dom.js";
import { authorization } from "./net.js";

/** @type {Map<string, Promise<string>>} addresses of pictures by project and file */
const loaded = new Map();

/** @param {import("./state.js").Resource} project */
export function avatarElement(project) {
  const element = make("img.picture", { alt: "" });
  const key = `${project.id} ${project.avatar_path}`;
  const loading = loaded.get(key) ?? load(project.id);
  loaded.set(key, loading);
  loading.then((address) => (element.src = address), () => loaded.delete(key));
  return element;
}

/** @param {string} projectId */
async function load(projectId) {
  const response = await fetch(`/api/projects/${encodeURIComponent(projectId)}/avatar`, { headers: authorization() });
  if (!response.ok) throw new Error("This project has no picture.");
  return URL.createObjectURL(await response.blob());
}
