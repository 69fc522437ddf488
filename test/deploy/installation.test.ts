/** What `npm ci` and `npm ci --omit=dev` need of the lock file. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const names = Schema.optionalKey(Schema.Record(Schema.String, Schema.String))
const Package = Schema.Struct({
  version: Schema.optionalKey(Schema.String),
  integrity: Schema.optionalKey(Schema.String),
  link: Schema.optionalKey(Schema.Boolean),
  optional: Schema.optionalKey(Schema.Boolean),
  os: Schema.optionalKey(Schema.Array(Schema.String)),
  cpu: Schema.optionalKey(Schema.Array(Schema.String)),
  dependencies: names,
  optionalDependencies: names
})
const Lock = Schema.Struct({ packages: Schema.Record(Schema.String, Package) })

const { packages } = Schema.decodeUnknownSync(Lock)(JSON.parse(readFileSync(at("package-lock.json"), "utf8")))

/** Where Node searches a package that one at `path` names: beside it, then in each folder above. */
const placesOf = (path: string, name: string): ReadonlyArray<string> => {
  const above = path.lastIndexOf("node_modules/")
  const here = path === "" ? `node_modules/${name}` : `${path}/node_modules/${name}`
  return path === "" ? [here] : [here, ...placesOf(above <= 0 ? "" : path.slice(0, above - 1), name)]
}

const missingOf = (lock: typeof packages) =>
  Object.entries(lock).flatMap(([path, one]) =>
    Object.keys({ ...one.dependencies, ...one.optionalDependencies })
      .filter((name) => !placesOf(path, name).some((place) => place in lock))
      .map((name) => `${name} of ${path}`)
  )

/** The registry has these for machines of their own alone; nothing else is taken without a hash of its content. */
const withoutHash = /^node_modules\/litesvm-(darwin-(arm64|x64)|linux-arm64-(gnu|musl)|linux-x64-musl)$/u

describe("the lock file", () => {
  it("has every package that one of its packages names, for every platform", () => {
    assert.isAbove(Object.keys(packages).length, 500)
    assert.deepStrictEqual(missingOf(packages), [])
    const { "node_modules/@oxfmt/binding-darwin-arm64": _, ...others } = packages
    assert.deepStrictEqual(missingOf(others), ["@oxfmt/binding-darwin-arm64 of node_modules/oxfmt"])
  })

  it("has the hash of every package that Linux on x64 installs", () => {
    const bare = Object.entries(packages)
      .filter(([path, one]) => path.includes("node_modules/") && one.link !== true && one.integrity === undefined)
      .map(([path]) => path)
    assert.deepStrictEqual(
      bare.filter((path) => !withoutHash.test(path)),
      []
    )
    for (const path of bare) assert.isTrue(packages[path]!.optional, path)
  })

  it("brings the sandbox's chain to every platform that the README names, by its hash and for that platform alone", () => {
    const platforms = [
      ["linux", "amd64", "x64"],
      ["linux", "arm64", "arm64"],
      ["darwin", "amd64", "x64"],
      ["darwin", "arm64", "arm64"]
    ] as const
    for (const [os, name, cpu] of platforms) {
      const one = packages[`node_modules/@foundry-rs/anvil-${os}-${name}`]!
      assert.deepStrictEqual([one.os, one.cpu, one.optional], [[os], [cpu], true])
      assert.match(one.integrity!, /^sha512-/u)
    }
  })
})
