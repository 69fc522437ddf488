import { assert, describe, it } from "@effect/vitest"
import { DateTime } from "effect"
import type { AssetId } from "#domain/values/Caip.ts"
import type { OperationId, PortfolioId } from "#domain/values/Ids.ts"
import { type AttentionFacts, attentionOf } from "#domain/portfolio/Attention.ts"

const now = DateTime.makeUnsafe("2026-03-02T12:00:00.000Z")
const before = (minutes: number) => DateTime.subtract(now, { minutes })
const operationId = "op_01JQ8ZP3T5V7X9Z1B3D5F7H9K1" as OperationId

const factsOf = (openTransfers: AttentionFacts["openTransfers"]): AttentionFacts => ({
  portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" as PortfolioId,
  createdAt: before(100_000),
  revokedAt: null,
  permissionEndsAt: null,
  isGuarded: true,
  awaited: [],
  authorities: [],
  lastRun: null,
  openTransfers,
  unclear: []
})

const found = (minutes: number, unclearMinutes?: number) => {
  const unclearSince = unclearMinutes === undefined ? null : before(unclearMinutes)
  return attentionOf(factsOf([{ operationId, openedAt: before(minutes), unclearSince, reason: "no log yet" }]), now)
}

describe("the attention to a transfer", () => {
  it("is none while it is under way for less than an hour", () => assert.deepStrictEqual(found(59), []))

  it("names one that is late, though provider and chain say nothing is wrong, since when, and since when it is late", () => {
    const [late, ...others] = found(31 * 60)
    assert.isEmpty(others)
    assert.deepInclude(late, { code: "transfer_unclear", actor: "operator", operationId, since: before(30 * 60) })
    assert.include(late!.action, `left at ${DateTime.formatIso(before(31 * 60))} has not arrived`)
  })

  it("names one on which the chains do not agree, before it is late and afterwards", () => {
    const [early] = found(10, 5)
    assert.deepInclude(early, { code: "transfer_unclear", operationId, since: before(5) })
    assert.include(early!.action, "do not agree on it (no log yet)")
    assert.deepStrictEqual(
      [found(120, 5), found(120, 90)].map(([one]) => one!.since),
      [before(60), before(90)]
    )
  })
})

describe("the attention to an operation that waits for a chain", () => {
  it("names what it waits for, with the reason, by a code of its own", () => {
    const codeOf = (waitsFor: AttentionFacts["unclear"][number]["waitsFor"]) => {
      const unclear = [{ operationId, waitsFor, since: before(5), reason: "gas is dear" }]
      const [one, ...others] = attentionOf({ ...factsOf([]), unclear }, now)
      assert.isEmpty(others)
      assert.deepInclude(one, { operationId, since: before(5), actor: "operator" })
      assert.include(one!.action, "(gas is dear)")
      return one!.code
    }
    assert.deepStrictEqual(
      [codeOf("outcome"), codeOf("gas"), codeOf("reading")],
      ["outcome_unclear", "gas_too_dear", "chain_behind"]
    )
  })
})

describe("the attention to a foreign authority", () => {
  it("names asset and holder, since when it is known, and the owner's way out", () => {
    const assetId =
      "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp/spl:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v" as AssetId
    const holder = "7Np41oeYqPefeNQEHSv1UDhYrehxin3NStELsSKCT4K2"
    const [one, ...others] = attentionOf({ ...factsOf([]), authorities: [{ assetId, holder, since: before(5) }] }, now)
    assert.isEmpty(others)
    assert.deepInclude(one, { code: "foreign_authority", actor: "owner", since: before(5), operationId: null })
    for (const text of [assetId, holder, "withdraw it"]) assert.include(one!.action, text)
  })
})
