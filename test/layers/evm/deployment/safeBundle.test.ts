/** Bundles for a Safe: the same calls in the same order, with the checksum that Safe's own interface computes. */
import { assert, describe, it } from "@effect/vitest"
import type { DeploymentStep } from "#layers/evm/deployment/planDeployment.ts"
import { ChainId } from "#domain/values/Caip.ts"
import { bundleChecksum, safeBundles } from "#layers/evm/deployment/safeBundle.ts"

const safe = "0x52908400098527886E0F7030069857D2E4169EE7"

/** A bundle as Safe's interface wrote it, with its checksum. Source: a public list of a DAO's bundles. */
const published = (createdAt: number, amount: string, checksum: string) => ({
  version: "1.0",
  chainId: "1",
  createdAt,
  meta: {
    name: "Transactions Batch",
    description: "",
    txBuilderVersion: "1.16.3",
    createdFromSafeAddress: "0x10A19e7eE7d7F8a52822f6817de8ea18204F2e4f",
    createdFromOwnerAddress: "",
    checksum
  },
  transactions: [
    {
      to: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
      value: "0",
      data: null,
      contractMethod: {
        inputs: [
          { name: "to", type: "address", internalType: "address" },
          { name: "value", type: "uint256", internalType: "uint256" }
        ],
        name: "transfer",
        payable: false
      },
      contractInputsValues: { to: "0x811912c19eEF91b9Dc3cA52fc426590cFB84FC86", value: amount }
    }
  ]
})

const step = (index: number, gas = 250_000n): DeploymentStep => ({
  words: `step ${index}`,
  from: safe,
  to: "0x4e59b44847b379578588920cA78FbF26c0B4956C",
  data: `0x${index.toString(16).padStart(8, "0")}`,
  gas
})

describe("bundles for a Safe", () => {
  it("the checksum is that of bundles which Safe's interface wrote", () => {
    for (const [createdAt, amount, checksum] of [
      [1703107040104, "29000000000", "0x1f440bb1b31ed23dce797e5957ac2a5749add1074f8540f0ff0a158e4b248003"],
      [1703107142345, "30000000000", "0xa1bc4667c4f7289ebd0f1a07a44e791e2bc9883cf3ee0650c966b12a685d8721"]
    ] as const)
      assert.strictEqual(bundleChecksum(published(createdAt, amount, checksum)), checksum)
  })

  it("a bundle read back has the plan's calls in their order, and its words", () => {
    const steps = [step(1), step(2), step(3)]
    const [bundle, ...others] = safeBundles(steps, { chainId: ChainId.make(8453), safe, createdAt: 1 })
    assert.lengthOf(others, 0)
    const read = JSON.parse(JSON.stringify(bundle))
    assert.deepStrictEqual(
      read.transactions.map(({ data, to, value }: Record<string, string>) => ({ data, to, value })),
      steps.map(({ data, to }) => ({ data, to, value: "0" }))
    )
    assert.strictEqual(read.chainId, "8453")
    assert.strictEqual(read.meta.createdFromSafeAddress, safe)
    assert.strictEqual(read.meta.description, "1. step 1\n2. step 2\n3. step 3")
    assert.strictEqual(read.meta.checksum, bundleChecksum(read))
    assert.notStrictEqual(read.meta.checksum, bundleChecksum({ ...read, chainId: "1" }))
  })

  it("what does not fit into one transaction is several bundles, in order", () => {
    const steps = [step(1, 6_500_000n), step(2, 6_500_000n), step(3, 6_500_000n), step(4, 1n)]
    const bundles = safeBundles(steps, { chainId: ChainId.make(1), safe, createdAt: 1 })
    assert.deepStrictEqual(
      bundles.map(({ transactions }) => transactions.length),
      [2, 2]
    )
    assert.deepStrictEqual(
      bundles.flatMap(({ transactions }) => transactions.map(({ data }) => data)),
      steps.map(({ data }) => data)
    )
    for (const { meta } of bundles) assert.match(meta.name, /part [12] of 2/u)
  })
})
