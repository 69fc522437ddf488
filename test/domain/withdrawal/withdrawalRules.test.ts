/** The small rules of withdrawals: messages, typed data, balances, and what a liquidation of everything takes. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import fc from "fast-check"
import * as Base58 from "#domain/values/Base58.ts"
import { type AssetId, type ChainId, type EvmAccountId, solanaChainId, solanaReference } from "#domain/values/Caip.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { holdingsToLiquidate } from "#domain/withdrawal/holdingsToLiquidate.ts"
import { shortfalls } from "#domain/withdrawal/liveBalances.ts"
import { settlementAssetOn } from "#domain/withdrawal/settlementAsset.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import { typedDataOf } from "#domain/withdrawal/signedForm.ts"
import { RawAmount, WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import { families } from "#layers/FamiliesLive.ts"
import { arbUsdc, baseBtc, baseUsdc, baseWeth } from "#test/support/assets.ts"

const isAmount = Schema.is(RawAmount)
const decodeMessage = Schema.decodeUnknownSync(WithdrawalMessage)
const isMessage = (value: unknown) => Schema.decodeUnknownOption(WithdrawalMessage)(value)._tag === "Some"

const message = {
  portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8",
  recipientAccountId: "eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070D",
  assets: [{ assetId: baseUsdc.assetId as string, amountRaw: "1500500000" }],
  nonce: `0x${"7c".repeat(32)}`,
  expiresAt: 1_772_444_400
}

describe("amounts", () => {
  it("are positive integers of 256 bits in their one decimal spelling", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 256n - 1n }), (raw) => {
        assert.isTrue(isAmount(raw.toString()))
        assert.isFalse(isAmount(`0${raw}`))
        assert.isFalse(isAmount(`-${raw}`))
        assert.isFalse(isAmount(`${raw}.0`))
        assert.isFalse(isAmount(`${2n ** 256n - 1n + raw}`))
      })
    )
    for (const text of ["", "0", "00", "1e3", " 1", "1 ", "+1", "0x1", "1_000", "٣"])
      assert.isFalse(isAmount(text), text)
    assert.isTrue(isAmount((2n ** 256n - 1n).toString()))
  })

  it("of any other text are none", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        assert.strictEqual(isAmount(text), /^[1-9][0-9]{0,76}$/u.test(text))
      })
    )
  })
})

describe("messages", () => {
  it("are accepted in exactly the form in which they are issued", () => {
    assert.isTrue(isMessage(message))
    assert.isTrue(isMessage({ ...message, liquidate: true }))
    const [asset] = message.assets
    const others: ReadonlyArray<object> = [
      { recipientAccountId: message.recipientAccountId.toLowerCase() },
      { recipientAccountId: "eip155:0:0x8617E340B3D01FA5F11F306F4090FD50E238070D" },
      { assets: [] },
      { assets: [{ ...asset, assetId: baseUsdc.assetId.toLowerCase() }] },
      { assets: Array.from({ length: 51 }, () => asset) },
      { nonce: `0x${"7C".repeat(32)}` },
      { nonce: `0x${"7c".repeat(31)}` },
      { expiresAt: 0 },
      { expiresAt: 1.5 },
      { expiresAt: "1772444400" },
      { liquidate: false },
      { portfolioId: "portfolio" }
    ]
    for (const changes of others) assert.isFalse(isMessage({ ...message, ...changes }), JSON.stringify(changes))
  })
})

describe("the text of Solana", () => {
  /** Reads a text back as somebody would who knows the lines and not the code. */
  const read = (text: string) => {
    const [title, portfolio, recipient, ...rest] = text.split("\n")
    const [nonce, expiresAt] = rest.slice(-2)
    const after = (line: string | undefined, name: string) => line!.replace(new RegExp(`^${name}: `, "u"), "")
    return {
      title,
      portfolioId: after(portfolio, "portfolioId"),
      recipientAccountId: after(recipient, "recipientAccountId"),
      assets: rest.slice(0, -2).map((line) => ({ assetId: line.split(" ")[0], amountRaw: line.split(" ")[1] })),
      nonce: after(nonce, "nonce"),
      expiresAt: Number(after(expiresAt, "expiresAt"))
    }
  }

  it("is that of one message alone: whatever message is read, its text states all of it", () => {
    const base58 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Base58.encode(bytes))
    const solana = `solana:${solanaReference}`
    const messages = fc.record({
      portfolioId: fc.constantFrom(message.portfolioId, "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K9"),
      recipientAccountId: base58.map((address) => `${solana}:${address}`),
      assets: fc.array(
        fc.record({
          assetId: base58.map((mint) => `${solana}/spl:${mint}`),
          amountRaw: fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }).map(String)
        }),
        { minLength: 1, maxLength: 5 }
      ),
      nonce: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => `0x${Buffer.from(bytes).toString("hex")}`),
      expiresAt: fc.integer({ min: 1, max: 253_402_300_799 })
    })
    fc.assert(
      fc.property(messages, (wire) => {
        const text = withdrawalText("Ballast Withdrawal Authorization", decodeMessage(wire))
        assert.deepStrictEqual(read(text), { title: "Ballast Withdrawal Authorization", ...wire })
      })
    )
  })

  it("has no other reading, because a message with a line's end or a space in a value is none", () => {
    const changes = [
      { portfolioId: `${message.portfolioId}\nnonce: 1` },
      { recipientAccountId: `${message.recipientAccountId} ` },
      { assets: [{ assetId: `${baseUsdc.assetId}\n`, amountRaw: "1" }] },
      { assets: [{ assetId: baseUsdc.assetId, amountRaw: "1\nnonce: 1" }] },
      { nonce: `${message.nonce}\n` }
    ]
    for (const change of changes) assert.isFalse(isMessage({ ...message, ...change }), JSON.stringify(change))
  })
})

describe("typed data", () => {
  const account = "eip155:8453:0x52908400098527886E0F7030069857D2E4169EE7" as EvmAccountId
  const decoded = Schema.decodeUnknownSync(WithdrawalMessage)(message)

  it("has the members of shapes 2.22 in their order, and version 1", () => {
    const { domain, primaryType, types } = typedDataOf(decoded, "Ballast Withdrawal Authorization", account)
    assert.deepStrictEqual(domain, {
      name: "Ballast Withdrawal Authorization",
      version: "1",
      chainId: 8453,
      verifyingContract: "0x52908400098527886E0F7030069857D2E4169EE7"
    })
    assert.strictEqual(primaryType, "Withdrawal")
    assert.deepStrictEqual(
      types.Withdrawal.map(({ name, type }) => `${type} ${name}`),
      [
        "string portfolioId",
        "string recipientAccountId",
        "WithdrawalAsset[] assets",
        "bytes32 nonce",
        "uint256 expiresAt"
      ]
    )
    assert.deepStrictEqual(
      types.WithdrawalAsset.map(({ name, type }) => `${type} ${name}`),
      ["string assetId", "string amountRaw"]
    )
  })

  it("of a liquidation has version 2 and a last member", () => {
    const { domain, types } = typedDataOf({ ...decoded, liquidate: true }, "Ballast", account)
    assert.strictEqual(domain.version, "2")
    assert.deepStrictEqual(types.Withdrawal.at(-1), { name: "liquidate", type: "bool" })
  })
})

describe("balances", () => {
  it("name each asset that is short, with what is there and what is needed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.bigInt({ min: 1n, max: 9n }), fc.option(fc.bigInt({ min: 0n, max: 9n }))), {
          maxLength: 5
        }),
        (rows) => {
          const ids = rows.map((_, index) => `asset ${index}` as AssetId)
          const assets = rows.map(([need], index) => ({ assetId: ids[index]!, amountRaw: need.toString() }))
          const held = new Map(rows.map(([, have], index) => [ids[index]!, have]))
          const short = rows.flatMap(([need, have], index) => (have === null || have < need ? [index] : []))
          const lines = shortfalls(assets, held)
          assert.deepStrictEqual(
            lines.map((line) => Number(/^assets\.(\d+): /.exec(line)![1])),
            short
          )
          for (const [at, index] of short.entries()) {
            const [need, have] = rows[index]!
            assert.include(lines[at]!, have === null ? `need ${need}` : `have ${have}, need ${need}`)
          }
        }
      )
    )
  })

  it("that were not asked for are unknown, not enough", () => {
    assert.lengthOf(shortfalls([{ assetId: baseUsdc.assetId, amountRaw: "1" }], new Map()), 1)
  })
})

describe("a liquidation of everything", () => {
  const asOf = DateTime.makeUnsafe(0)
  const prices = new Map([
    [baseUsdc.assetId, { usd: Decimal.one, asOf }],
    [baseWeth.assetId, { usd: 2_500n * Decimal.one, asOf }]
  ])
  const pick = (balances: ReadonlyMap<AssetId, bigint | null>, changes: object = {}) =>
    holdingsToLiquidate({
      catalogue: [baseUsdc, baseWeth, baseBtc],
      balances,
      prices,
      thresholdUsd: 5n * Decimal.one,
      ...changes
    }).map(({ amountRaw, assetId }) => [assetId, amountRaw])

  it("takes what is worth more than the threshold, whole, the most valuable first", () => {
    const weth = [baseWeth.assetId, 4_000_000_000_000_000n] as const
    assert.deepStrictEqual(pick(new Map([[baseUsdc.assetId, 5_000_001n], weth])), [
      [baseWeth.assetId, "4000000000000000"],
      [baseUsdc.assetId, "5000001"]
    ])
    assert.deepStrictEqual(pick(new Map([[baseUsdc.assetId, 5_000_000n]])), [])
  })

  it("leaves what has no price, no balance, or is blocked", () => {
    assert.deepStrictEqual(pick(new Map([[baseBtc.assetId, 10n ** 8n]])), [])
    assert.deepStrictEqual(pick(new Map([[baseUsdc.assetId, null]])), [])
    const catalogue = [{ ...baseUsdc, isBlocked: true }]
    assert.deepStrictEqual(pick(new Map([[baseUsdc.assetId, 10n ** 8n]]), { catalogue }), [])
  })

  it("takes no more assets than one message holds", () => {
    const catalogue = Array.from({ length: 60 }, (_, index) => ({ ...baseUsdc, assetId: `asset ${index}` as AssetId }))
    const balances = new Map(catalogue.map(({ assetId }, index) => [assetId, BigInt(index + 10) * 1_000_000n]))
    const known = new Map(catalogue.map(({ assetId }) => [assetId, { usd: Decimal.one, asOf }]))
    const picked = pick(balances, { catalogue, prices: known })
    assert.lengthOf(picked, 50)
    assert.deepStrictEqual(picked[0], ["asset 59", "69000000"])
  })
})

describe("settlement assets", () => {
  const settlementOn = (chainId: number) => settlementAssetOn(families, chainId as ChainId)

  it("are the canonical USDC of three chains", () => {
    assert.strictEqual(settlementOn(8453), baseUsdc.assetId)
    assert.strictEqual(settlementOn(42161), arbUsdc.assetId)
    assert.strictEqual(settlementOn(1), "eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48" as AssetId)
    for (const id of [56, 4663, 137]) assert.isUndefined(settlementOn(id))
  })

  it("Solana has a USDC, and assets are not liquidated there", () => assert.isUndefined(settlementOn(solanaChainId)))
})
