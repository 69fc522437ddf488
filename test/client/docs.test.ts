/** The programs of the README and of the pages for integrators are whole, and type-check as they stand. */
import { assert, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { complaintsAbout } from "#test/client/complaintsAbout.ts"

const root = join(import.meta.dirname, "../..")

const programsIn = (document: string) =>
  [...readFileSync(join(root, document), "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gmu)].map(([, code]) => code!)

it("every TypeScript block of the README, docs/client.md, docs/not-traded.md and of both packages compiles", async () => {
  const documents = [
    "README.md",
    "docs/api.md",
    "docs/client.md",
    "docs/not-traded.md",
    "client/README.md",
    "client/effect/README.md"
  ]
  const programs = documents.flatMap(programsIn)
  assert.isAbove(programs.length, 4)
  assert.deepStrictEqual(await complaintsAbout(programs), [])
})
