/**
 * Loaded before a program: it can load what is in the image and nothing else, which is the folders of `IMAGE_FOLDERS`
 * and the packages that `npm ci --omit=dev --omit=optional` installs.
 */
import { readFileSync } from "node:fs"
import { registerHooks } from "node:module"

const root = new URL("../../../", import.meta.url).href
const folders = (process.env.IMAGE_FOLDERS ?? "").split(",")
const { packages } = JSON.parse(readFileSync(new URL("package-lock.json", root), "utf8"))

const packageOf = (path) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(path)?.[0]

registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    if (!found.url.startsWith(root)) return found
    const path = found.url.slice(root.length)
    const installed = packageOf(path)
    const isThere =
      installed === undefined
        ? folders.some((folder) => path === folder || path.startsWith(`${folder}/`))
        : packages[installed]?.dev !== true && packages[installed]?.optional !== true
    if (!isThere) throw new Error(`${installed ?? path} is not in the image`)
    return found
  }
})
