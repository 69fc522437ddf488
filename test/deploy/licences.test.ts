/** What `npm ci --omit=dev` installs, by the lock file: under which licences, and that CONTRIBUTING says so. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const read = (path: string) => readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8")

const Lock = Schema.Struct({
  packages: Schema.Record(
    Schema.String,
    Schema.Struct({
      license: Schema.optionalKey(Schema.String),
      dev: Schema.optionalKey(Schema.Boolean),
      link: Schema.optionalKey(Schema.Boolean)
    })
  )
})

const installed = Object.entries(
  Schema.decodeUnknownSync(Lock)(JSON.parse(read("package-lock.json"))).packages
).flatMap(([path, { dev = false, license = "none", link = false }]) =>
  // The root, and what stands in this repository.
  !path.includes("node_modules/") || link
    ? []
    : [{ name: path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length), dev, license }]
)

const permissive = /^(MIT|ISC|0BSD|CC0-1\.0|Unlicense|Apache-2\.0|BSD-[23]-Clause|MIT OR Apache-2\.0)$/u
/** Packages that say it in a file of theirs alone: MIT, and Unlicense. */
const unstated = new Set(["eyes", "text-encoding-utf-8"])
/** Libraries under weaker forms of copyleft that come with a library of ours, and are used as they are. */
const exceptions = ["@ethereumjs/rlp", "@ethereumjs/util", "web3-utils"]

const claim = read("CONTRIBUTING.md").split("Licences of packages:")[1] ?? ""

describe("licences of packages", () => {
  it("`npm ci --omit=dev` leaves every GPL package out, and what it installs is permissive but for what CONTRIBUTING names", () => {
    const product = installed.filter(({ dev }) => !dev)
    assert.isAbove(product.length, 50)
    assert.deepStrictEqual(
      product.filter(({ license }) => /(^|[^L])GPL|BUSL/u.test(license)),
      []
    )
    const others = product
      .filter(({ license, name }) => !permissive.test(license) && !unstated.has(name))
      .map(({ name }) => name)
    assert.deepStrictEqual([...new Set(others)].toSorted(), exceptions)
    for (const name of exceptions) assert.include(claim, `\`${name}\``)
  })

  it("CONTRIBUTING names every package of the sandbox and the tests that is under the GPL or has no open licence", () => {
    const restricted = installed.filter(({ dev, license }) => dev && /(^|[^L])GPL|BUSL/u.test(license))
    assert.isNotEmpty(restricted)
    for (const { name } of restricted) assert.include(claim, `\`${name}\``)
  })
})
