/** What the compiler says about programs that stand in documents and in comments. */
import { execFile } from "node:child_process"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const root = join(import.meta.dirname, "../..")

/** One line for each complaint, by the index of the program in the list; empty when all of them type-check. */
export const complaintsAbout = async (programs: ReadonlyArray<string>): Promise<ReadonlyArray<string>> => {
  const builds = join(root, ".data")
  await mkdir(builds, { recursive: true })
  // Within the repository, whose own name the programs import.
  const folder = await mkdtemp(join(builds, "docs-"))
  try {
    const files = await Promise.all(
      programs.map(async (code, index) => {
        await writeFile(join(folder, `${index}.ts`), code)
        return `${index}.ts`
      })
    )
    // The second package is of its own name, which the repository's does not have.
    const compilerOptions = { noUnusedLocals: false, paths: { "ballast-effect": ["../../client/effect/effect.ts"] } }
    const config = { extends: "../../tsconfig.json", compilerOptions, include: [], files }
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config))
    return await promisify(execFile)(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder])
      .then(() => [])
      .catch((error: { readonly stdout: string }) => error.stdout.trim().split("\n"))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
