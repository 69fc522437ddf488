/** What a page loads that uses the plain clients: how much, and nothing of Effect. */
import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { gzipSync } from "node:zlib"
import { bundleForBrowsers } from "#test/support/browserBundle.ts"

const kilobytes = (code: string) => gzipSync(code).length / 1_000

it("a page with one whoami loads less than 60 kB, compressed, and nothing of Effect", async () => {
  const { code, external, modules, warnings } = await bundleForBrowsers("test/client/support/whoamiPage.ts", "esm")
  assert.deepStrictEqual([external, warnings], [[], []])
  assert.isAbove(modules.length, 10)
  assert.deepStrictEqual(
    modules.filter((path) => path.includes("node_modules")),
    []
  )
  assert.isBelow(kilobytes(code), 60)
})

/** Most kilobytes of each whole entry, compressed. */
const entries = { "client/client.ts": 15, "client/rpc.ts": 10, "client/stream.ts": 10 }

for (const [entry, most] of Object.entries(entries))
  it(`${entry} imports no package and has less than ${most} kB, compressed`, async () => {
    const { code, external, modules } = await bundleForBrowsers(entry, "esm")
    assert.deepStrictEqual([external, modules.filter((path) => path.includes("node_modules"))], [[], []])
    assert.isBelow(kilobytes(code), most)
  })

it("Node loads no module of a package with the plain clients", () => {
  const program = `
    import { registerHooks } from "node:module"
    const loaded = []
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context) } })
    for (const entry of ["ballast/client", "ballast/rpc", "ballast/stream"]) await import(entry)
    console.log(JSON.stringify(loaded))`
  const loaded = JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" })
  ) as ReadonlyArray<string>
  assert.isAbove(loaded.length, 20)
  assert.deepStrictEqual(
    loaded.filter((url) => !url.includes("/client/") || url.includes("node_modules")),
    []
  )
})
