import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

export const dockerfile = readFileSync(fileURLToPath(new URL("../../../Dockerfile", import.meta.url)), "utf8")

/** What the last stage takes from the repository. */
export const copiedFolders = (): ReadonlyArray<string> =>
  [...dockerfile.slice(dockerfile.lastIndexOf("FROM ")).matchAll(/^COPY (?!--from)(\S+) \S+$/gmu)].map(
    ([, path]) => path!
  )
