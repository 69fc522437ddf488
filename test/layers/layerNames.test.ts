/** The name of a layer says what kind of layer it is. Source: docs/decisions/0290-names-of-layers.md. */
import { assert, describe, it } from "@effect/vitest"
import { basename } from "node:path"
import { inFolder } from "#test/sources.ts"

const layers = inFolder("layers")

/** Whose adapters are named after them, and where they are. */
const providers: Readonly<Record<string, RegExp>> = {
  CoinGecko: /^layers\/market\/CoinGecko/u,
  Lifi: /^layers\/routing\/lifi\//u,
  Nats: /^layers\/stream\/nats\//u,
  Ondo: /^layers\/issuer\/ondo\//u
}

/** Services by name, each with the files that declare one. */
const declared = Map.groupBy(
  [...inFolder("domain"), ...layers].flatMap(({ code, path }) =>
    [...code.matchAll(/^export (?:class (\w+) extends Context\.Service|const (\w+) = Context\.Reference)/gmu)].map(
      ([, service, reference]) => ({ name: (service ?? reference)!, hasDefault: service === undefined, path })
    )
  ),
  ({ name }) => name
)

const layer = /^export const (\w+) =\s+(?:\([^\n]*\) =>\s+)?Layer\.(\w+)\(\s*(\w*)/gmu

const exported = layers.flatMap(({ code, path }) =>
  [...code.matchAll(layer)].map(([, name, maker, of]) => ({ name: name!, maker: maker!, of: of!, path }))
)

/** Layers of one service. */
const adapters = exported.filter(({ maker, of }) => ["effect", "succeed", "sync"].includes(maker) && declared.has(of))

const isStore = ({ path }: { readonly path: string }) => path.startsWith("layers/sql/")

/** Layers of a service among adapters, what it is without a layer included. */
const makersOf = (name: string): number =>
  layers.reduce(
    (sum, { code }) => sum + [...code.matchAll(new RegExp(`\\bLayer\\.\\w+\\(\\s*${name}\\b`, "gu"))].length,
    declared.get(name)!.filter(({ hasDefault }) => hasDefault).length
  )

const placesOf = (found: typeof exported) => found.map(({ name, path }) => `${path}: ${name}`)

describe("names of layers", () => {
  it("a store is a module that is named after its port and has `layer`", () => {
    const stores = adapters.filter(isStore)
    assert.isAbove(stores.length, 30)
    assert.deepStrictEqual(
      placesOf(stores.filter(({ name, of, path }) => name !== "layer" || basename(path) !== `${of}.ts`)),
      []
    )
    assert.deepStrictEqual(placesOf(exported.filter((one) => one.name === "layer" && !isStore(one))), [])
  })

  it("every other adapter is its port's name and `Live`, in a file of that name", () => {
    const live = adapters.filter(({ name }) => name.endsWith("Live"))
    assert.isAbove(live.length, 20)
    assert.deepStrictEqual(
      placesOf(live.filter(({ name, of, path }) => name !== `${of}Live` || basename(path) !== `${name}.ts`)),
      []
    )
  })

  it("what has another name is of a provider, or not the only one of its port", () =>
    assert.deepStrictEqual(
      placesOf(
        adapters.filter(
          (one) =>
            !isStore(one) &&
            !one.name.endsWith("Live") &&
            !Object.keys(providers).some((provider) => one.name.startsWith(provider)) &&
            makersOf(one.of) < 2
        )
      ),
      []
    ))

  it("adapters of a provider are named after it", () =>
    assert.deepStrictEqual(
      Object.entries(providers).flatMap(([provider, place]) => {
        const own = adapters.filter(({ path }) => place.test(path))
        assert.isAbove(own.length, 0)
        return placesOf(own.filter(({ name }) => !name.startsWith(provider)))
      }),
      []
    ))

  it("a set of layers is `Live`, or clients; what gives no service is not", () =>
    assert.deepStrictEqual(
      placesOf(
        exported.filter(
          ({ maker, name }) =>
            (maker.startsWith("merge") && !/(?:Live|Clients)$/u.test(name)) ||
            (maker === "effectDiscard" && name.endsWith("Live"))
        )
      ),
      []
    ))

  it("a service that is made where it is declared has a static `layer`", () =>
    assert.deepStrictEqual(
      placesOf(adapters.filter(({ of, path }) => declared.get(of)!.some((one) => one.path === path))),
      []
    ))
})
