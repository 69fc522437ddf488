/** `npm run outdated`: what it says of npm's answers, and that reasons are of packages and versions that are used. */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { reasons, report } from "#scripts/outdated.ts"

const { dependencies, devDependencies } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8")
) as Readonly<Record<string, Readonly<Record<string, string>>>>
const used = { ...dependencies, ...devDependencies }

const answer = (packages: object) => ({ code: 1, stdout: JSON.stringify(packages), stderr: "" })
const one = (current: string, latest: string) => answer({ viem: { current, wanted: current, latest } })
const why = { viem: { stays: "2.1.0", why: "Owners sign with it." } }

describe("npm run outdated", () => {
  it("every reason is one of a package of package.json, for the version that it has there", () => {
    assert.isNotEmpty(Object.keys(reasons))
    for (const [name, { stays, why }] of Object.entries(reasons)) {
      assert.strictEqual(used[name], stays, name)
      assert.match(why, /^[A-Za-z0-9].{20,}\.$/u, name)
    }
  })

  it("names what is behind, with its reason, with a stale one, or with none", () => {
    assert.strictEqual(
      report(one("2.1.0", "2.10.0"), why),
      "viem 2.1.0, latest 2.10.0\n  Owners sign with it.\n1 packages are behind."
    )
    assert.include(report(one("2.2.0", "2.10.0"), why), "STALE REASON, given for 2.1.0")
    assert.include(report(one("2.1.0", "3.0.0"), {}), "NO REASON")
  })

  it("takes a tag below the version that is used for nothing new", () =>
    assert.strictEqual(report(one("4.1.0", "4.0.6"), {}), "No package is behind."))

  it("says so when the registry does not answer, in whichever way npm tells", () => {
    const offline = "npm's registry did not answer, so nothing is known of newer versions. Try again with a network."
    const error = JSON.stringify({ error: { code: "ENOTFOUND", summary: "request failed" } })
    assert.strictEqual(report({ code: 1, stdout: error, stderr: "" }, why), offline)
    assert.strictEqual(report({ code: 1, stdout: "", stderr: "npm error code ECONNREFUSED" }, why), offline)
    assert.strictEqual(report({ code: 1, stdout: "<html>", stderr: "" }, why), offline)
    assert.strictEqual(report({ code: 0, stdout: "", stderr: "npm error code ETIMEDOUT" }, why), offline)
    assert.strictEqual(report({ code: 0, stdout: "{}", stderr: "" }, why), "No package is behind.")
  })
})
