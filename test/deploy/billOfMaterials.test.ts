/** `sbom.cdx.json` lists what `npm ci --omit=dev` installs now. */
import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const root = join(import.meta.dirname, "../..")
const stored = readFileSync(join(root, "sbom.cdx.json"), "utf8")
const { components, dependencies } = JSON.parse(stored) as {
  readonly components: ReadonlyArray<Readonly<Record<string, any>>>
  readonly dependencies: ReadonlyArray<{ readonly ref: string; readonly dependsOn: ReadonlyArray<string> }>
}

describe("the bill of materials", () => {
  it("is the one that npm run sbom makes of the lock file", () => {
    const folder = mkdtempSync(join(tmpdir(), "ballast-sbom-"))
    try {
      const made = join(folder, "made.json")
      execFileSync(process.execPath, [join(root, "scripts/sbom.ts"), made])
      assert.strictEqual(readFileSync(made, "utf8"), stored, "run npm run sbom")
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it("names each package once, by version and hash, and what it needs of the others", () => {
    const refs = components.map((component) => component["bom-ref"])
    assert.strictEqual(new Set(refs).size, refs.length)
    const { dependencies: direct } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
    for (const name of Object.keys(direct))
      assert.include(
        components.map((component) => component["name"]),
        name
      )
    for (const { dependsOn } of dependencies) for (const ref of dependsOn) assert.include(refs, ref)
    const own = components.filter(({ hashes }) => hashes === undefined).map(({ name }) => name)
    assert.deepStrictEqual(own.toSorted(), ["bigint-buffer", "rpc-websockets"])
  })

  it("has nothing of the tests, no Node, and not the package with CVE-2025-3194", () => {
    const named = components.map(({ name, version }) => `${name}@${version}`)
    assert.deepStrictEqual(
      named.filter((one) => /^(?:vitest|oxlint|node|bindings|bigint-buffer)@/u.test(one)),
      ["bigint-buffer@1.1.6-plain.1"]
    )
  })
})
