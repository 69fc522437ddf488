/** What rules ask of families of chains, and how callers read what one of them does not have. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Result } from "effect"
import { addressOf, erc20, type ChainId, type EvmAddress, spl } from "#domain/values/Caip.ts"
import { type FamilyOffer, type FamilyTerms, requireOffered } from "#domain/chain/Families.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import * as Base58 from "#domain/values/Base58.ts"
import { requireOneTransaction } from "#domain/withdrawal/requireOneTransaction.ts"
import { lastSigningMillis, requireNotExpired } from "#domain/withdrawal/requireNotExpired.ts"
import { families } from "#layers/FamiliesLive.ts"

const { eip155, solana } = families

const on8453 = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    assetId: erc20(8453 as ChainId, Eip55.checksum(`0x${`${index + 10}`.repeat(20)}`) as EvmAddress),
    amountRaw: "1"
  }))

const onSolana = (count: number) =>
  Array.from({ length: count }, (_, index) => ({
    assetId: spl(Base58.encode(new Uint8Array(32).fill(index + 1))),
    amountRaw: "1"
  }))

describe("terms of families", () => {
  it("are named as sentences name them, EVM first", () =>
    assert.deepStrictEqual(
      Object.values(families).map(({ chains }) => chains),
      ["EVM chains", "Solana"]
    ))

  const refusals: ReadonlyArray<readonly [offer: FamilyOffer, message: string, detail: string]> = [
    ["contractOwner", "An owner on Solana is a key; leave accountType out", "accountType: ERC1271 is for EVM chains"],
    [
      "guardTerms",
      "Terms are enforced by the trade guard, which Solana does not have; leave them out",
      "terms: no guard"
    ],
    [
      "renewal",
      "The agent's role on Solana does not end and has no terms; there is nothing to sign anew",
      "portfolioId: is on Solana"
    ],
    [
      "revocation",
      "On Solana the owner takes the agent's role away with the wallet's own key (docs/solana.md); to stop automation, pause the portfolio",
      "portfolioId: is on Solana"
    ]
  ]
  for (const [offer, message, detail] of refusals) {
    it(`${offer} is offered on EVM chains and refused on Solana`, () => {
      assert.isTrue(Result.isSuccess(requireOffered(eip155, offer)))
      const refused = Result.getOrThrow(Result.flip(requireOffered(solana, offer)))
      assert.strictEqual(refused.message, message)
      assert.deepStrictEqual(refused.details, [detail])
    })
  }

  it("an address is lost by its spelling on EVM chains alone; on Solana accounts are read", () => {
    assert.strictEqual(eip155.lossAt(`0x${"0".repeat(40)}` as EvmAddress), "is the zero address")
    assert.isUndefined(eip155.lossAt(Eip55.checksum(`0x${"5c".repeat(20)}`) as EvmAddress))
    assert.isUndefined(solana.lossAt(addressOf(spl("11111111111111111111111111111111"))))
  })

  it.effect("a withdrawal on Solana includes five assets, one on EVM chains whatever a message holds", () =>
    Effect.gen(function* () {
      yield* requireOneTransaction(families, onSolana(5), "")
      yield* requireOneTransaction(families, on8453(50), "")
      const refused = yield* Effect.flip(requireOneTransaction(families, onSolana(6), "message."))
      assert.strictEqual(
        refused.message,
        "One transaction includes a withdrawal on Solana; ask for fewer assets at a time"
      )
      assert.deepStrictEqual(refused.details, ["message.assets: at most 5 of Solana, 6 were named"])
    })
  )

  it.effect("an authorization ends at its expiry, on Solana 90 seconds before, which is said", () =>
    Effect.gen(function* () {
      const expiresAt = 1_772_444_400
      const message = { expiresAt }
      assert.strictEqual(lastSigningMillis(message, eip155), expiresAt * 1_000)
      assert.strictEqual(lastSigningMillis(message, solana), (expiresAt - 90) * 1_000)
      const requireAt = Effect.fnUntraced(function* (terms: FamilyTerms, millis: number) {
        yield* requireNotExpired(message, terms, DateTime.makeUnsafe(millis))
      })
      const [end, endOnSolana] = [expiresAt * 1_000, (expiresAt - 90) * 1_000]
      yield* requireAt(eip155, end)
      yield* requireAt(solana, endOnSolana)
      const late = yield* Effect.flip(requireAt(eip155, end + 1))
      assert.deepStrictEqual(late.details, ["message.expiresAt: was 2026-03-02T09:40:00.000Z"])
      const lateOnSolana = yield* Effect.flip(requireAt(solana, endOnSolana + 1))
      assert.deepStrictEqual(lateOnSolana.details, [
        "message.expiresAt: was 2026-03-02T09:40:00.000Z; on Solana nothing is begun in the last 90 seconds"
      ])
    })
  )
})
