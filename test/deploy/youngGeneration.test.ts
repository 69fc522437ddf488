/** How the API process is started, wherever something starts it. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")
const flags = (text: string) => text.match(/--max-semi-space-size=\d+/gu) ?? []

const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> }

/** What starts it, each in one file. */
const starts: ReadonlyArray<readonly [string, string]> = [
  ["the image", read("Dockerfile")],
  ["Kubernetes", read("deploy/kubernetes/api.yaml")],
  ["npm run api", scripts["api"]!],
  ["the benchmarks", scripts["bench"]!],
  ["npm run cluster", read("src/Cluster.ts")],
  ["the sandbox", read("sandbox/service/ApiProcess.ts")],
  ["docs/operations.md", read("docs/operations.md")]
]

describe("the young generation of the API process", () => {
  it.each(starts)("is 64 MB a half where %s starts it", (_, text) => {
    assert.deepStrictEqual(flags(text), ["--max-semi-space-size=64"])
  })

  it("is set at every command that starts it", () => {
    for (const [name, text] of starts) {
      for (const [command] of text.matchAll(/^.*\bnode\b[^\n]*\bsrc\/Api\.ts/gmu)) {
        assert.match(command, /node"?,? "?--max-semi-space-size=64"?,? "?src\/Api\.ts/u, name)
      }
    }
  })
})
