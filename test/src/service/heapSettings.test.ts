import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { readFile } from "node:fs/promises"

it("sets a flag that this V8 knows: an unknown one would be ignored", async () => {
  const source = await readFile(new URL("../../../src/service/heapSettings.ts", import.meta.url), "utf8")
  const [, flag] = /setFlagsFromString\("--no-([a-z-]+)"\)/u.exec(source) ?? []
  assert.isDefined(flag)
  assert.include(execFileSync(process.execPath, ["--v8-options"], { encoding: "utf8" }), `--${flag} (`)
})
