/** The programs of the README and of the pages for integrators are whole, and type-check as they stand. */
import { assert, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"

const root = join(import.meta.dirname, "../..")

const programsIn = (document: string) =>
  [...readFileSync(join(root, document), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, code]) => code!)

it("every TypeScript block of the README, docs/client.md and docs/not-traded.md compiles", async () => {
  const programs = ["README.md", "docs/client.md", "docs/not-traded.md"].flatMap(programsIn)
  assert.isAbove(programs.length, 4)
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
    const config = { extends: "../../tsconfig.json", compilerOptions: { noUnusedLocals: false }, include: [], files }
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config))
    const told = await promisify(execFile)(process.execPath, [
      join(root, "node_modules/typescript/bin/tsc"),
      "-p",
      folder
    ])
      .then(() => "compiles")
      .catch((error: { readonly stdout: string }) => error.stdout)
    assert.strictEqual(told, "compiles")
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
