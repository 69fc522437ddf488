/** The files of deploy/chains: each decodes, and what is wrong with one is said with its name and the field. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { getAddress } from "viem"
import { decodeChainFile, decodeKeys } from "#layers/evm/deployment/ChainFile.ts"
import { contractsOfOthers } from "#layers/evm/requiredContracts.ts"

const folder = new URL("../../../../deploy/chains/", import.meta.url)
const names = readdirSync(folder)
const contentOf = (name: string) => readFileSync(new URL(name, folder), "utf8")

/** Every text of a JSON value that is 20 bytes in hex, wherever it stands. */
const addressesIn = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return /^0x[0-9a-fA-F]{40}$/u.test(value) ? [value] : []
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(addressesIn) : []
}

const repeated = (values: ReadonlyArray<string>) => values.filter((value, index) => values.indexOf(value) !== index)

describe("files of chains", () => {
  it("there is one for each chain that a deployment may configure", () =>
    assert.deepStrictEqual(names.toSorted(), ["1.json", "42161.json", "4663.json", "56.json", "8453.json"]))

  for (const name of names) {
    it.effect(`${name} decodes; its addresses have their checksums, and its tokens and feeds are there once`, () =>
      Effect.gen(function* () {
        const raw = JSON.parse(contentOf(name)) as Record<string, Array<Record<string, any>>>
        const file = yield* decodeChainFile(name, contentOf(name))
        assert.strictEqual(name, `${file.chainId}.json`)
        const addresses = addressesIn(raw)
        assert.isAbove(addresses.length, 8)
        for (const address of addresses) assert.strictEqual(address, getAddress(address))
        const tokens = raw["tokens"]!
        assert.deepStrictEqual(repeated(tokens.map(({ address }) => address)), [])
        assert.deepStrictEqual(repeated(tokens.flatMap(({ feed }) => (feed === null ? [] : [feed.address]))), [])
        assert.deepStrictEqual(
          contractsOfOthers.map(([, address]) => address).filter((address) => !addresses.includes(address)),
          []
        )
        for (const venue of raw["venues"]!) assert.isString(venue["source"])
      })
    )
  }

  const broken = (change: (file: any) => void) =>
    Effect.gen(function* () {
      const file = JSON.parse(contentOf("8453.json"))
      change(file)
      const { message } = yield* Effect.flip(decodeChainFile("deploy/chains/8453.json", JSON.stringify(file)))
      return message
    })

  const refused: ReadonlyArray<readonly [what: string, change: (file: any) => void, message: RegExp]> = [
    [
      "an address in lower case",
      (file) => (file.tokens[0].address = file.tokens[0].address.toLowerCase()),
      /^deploy\/chains\/8453\.json: tokens\.0\.address: .*checksum/u
    ],
    ["a band of zero", (file) => (file.tokens[1].bandBps = 0), /^deploy\/chains\/8453\.json: tokens\.1\.bandBps: /u],
    [
      "a hash that is none",
      (file) => (file.contracts[2].codeHash = "0x12"),
      /^deploy\/chains\/8453\.json: contracts\.2\.codeHash: /u
    ],
    [
      "a fact without a source",
      (file) => delete file.venues[0].source,
      /^deploy\/chains\/8453\.json: venues\.0\.source: /u
    ],
    ["a field that is none", (file) => (file.tokens[0].band = 1), /^deploy\/chains\/8453\.json: tokens\.0\.band: /u],
    [
      "a token with neither feed nor attestor",
      (file) => (file.tokens[0].feed = null),
      /^deploy\/chains\/8453\.json: tokens\.0: /u
    ],
    [
      "a token twice",
      (file) => (file.tokens[1].symbol = file.tokens[0].symbol),
      /^deploy\/chains\/8453\.json: .*listed twice/u
    ],
    [
      "a payout token that is not listed",
      (file) => (file.payoutTokens = ["EURX"]),
      /^deploy\/chains\/8453\.json: .*EURX/u
    ]
  ]
  for (const [what, change, message] of refused) {
    it.effect(`${what} is refused with the file's name and the field`, () =>
      Effect.map(broken(change), (said) => assert.match(said, message))
    )
  }

  it.effect("what is no JSON is refused, and a key that is none", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(decodeChainFile("here.json", "{"))).message, "here.json: it is not JSON")
      const keys = { deployer: "0x1", administrator: null, guardian: null, attestor: null }
      const { message } = yield* Effect.flip(decodeKeys("deploy/keys.json", JSON.stringify(keys)))
      assert.match(message, /^deploy\/keys\.json: deployer: .*checksum/mu)
    })
  )
})
