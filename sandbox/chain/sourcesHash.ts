import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const folders = [join(root, "contracts"), join(root, "sandbox/contracts")]
const packages = ["solc", "solady-src", "@openzeppelin/contracts", "@uniswap/v2-core"]

/** Changes whenever the Solidity of the repository, the compiler, or a package that the sources import does. */
export const sourcesHash = (): string => {
  const hash = createHash("sha256")
  for (const folder of folders) {
    for (const file of readdirSync(folder).sort()) hash.update(file).update(readFileSync(join(folder, file)))
  }
  hash.update(readFileSync(join(import.meta.dirname, "compile.ts")))
  for (const name of packages) hash.update(readFileSync(join(root, "node_modules", name, "package.json")))
  return hash.digest("hex")
}
