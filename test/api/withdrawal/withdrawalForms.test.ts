/** The format of requests of both stages of a withdrawal, which is checked before anything is read. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { PortfolioMismatch, RecipientInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { enrolled, post, request, signedBody } from "#test/api/support/withdrawing.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"

const asset = (assetId: string, amountRaw: unknown) => ({ assetId, amountRaw })

layer(ApiLive, { excludeTestServices: true })("forms of withdrawals", (it) => {
  const malformed: ReadonlyArray<readonly [what: string, changes: Record<string, unknown>, detail: string | RegExp]> = [
    ["an unknown key", { memo: "x" }, "memo: "],
    ["no assets", { assets: [] }, "assets: "],
    ["fifty-one assets", { assets: Array.from({ length: 51 }, () => asset(baseUsdc.assetId, "1")) }, "assets: "],
    ["a number as amount", { assets: [asset(baseUsdc.assetId, 5)] }, "assets.0.amountRaw: "],
    ["an amount of zero", { assets: [asset(baseUsdc.assetId, "0")] }, "assets.0.amountRaw: "],
    ["a negative amount", { assets: [asset(baseUsdc.assetId, "-1")] }, "assets.0.amountRaw: "],
    ["a fraction", { assets: [asset(baseUsdc.assetId, "1.5")] }, "assets.0.amountRaw: "],
    ["an exponent", { assets: [asset(baseUsdc.assetId, "1e6")] }, "assets.0.amountRaw: "],
    ["leading zeros", { assets: [asset(baseUsdc.assetId, "007")] }, "assets.0.amountRaw: "],
    ["79 digits", { assets: [asset(baseUsdc.assetId, "1".repeat(79))] }, "assets.0.amountRaw: "],
    ["more than 256 bits", { assets: [asset(baseUsdc.assetId, (2n ** 256n).toString())] }, "assets.0.amountRaw: "],
    [
      "a bare address as asset",
      { assets: [asset("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "1")] },
      "assets.0.assetId: "
    ],
    ["a number as recipient", { recipientAccountId: 8453 }, "recipientAccountId: "],
    [
      "a settlement asset without liquidation",
      { settlementAssetId: baseUsdc.assetId },
      "settlementAssetId: only together"
    ],
    [
      "a settlement asset of choice",
      { liquidate: true, settlementAssetId: baseWeth.assetId },
      "settlementAssetId: only eip155:8453/erc20:0x833589"
    ]
  ]

  for (const [what, changes, detail] of malformed) {
    it.effect(`stage 1 refuses ${what}`, () =>
      Effect.gen(function* () {
        const user = yield* enrolled()
        assertError(yield* post(user, "withdraw/signature", { ...request, ...changes }), ValidationFailed, detail)
      })
    )
  }

  const noRecipients = [
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070d",
    "eip155:0:0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJe0",
    "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:7EqQdEULxWcraVx3mXKFjc84LhCkMGZCkRuDpvcMwJeK",
    "somebody",
    ""
  ]

  it.effect("whatever is no account that is bound to a chain is an invalid recipient, in both stages", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const { message, signature } = yield* signedBody(user)
      for (const recipientAccountId of noRecipients) {
        for (const route of ["withdraw/signature", "liquidate-all/signature"]) {
          const body = route.startsWith("withdraw") ? { ...request, recipientAccountId } : { recipientAccountId }
          assertError(yield* post(user, route, body), RecipientInvalid, "recipientAccountId: ")
        }
        const sent = { message: { ...message, recipientAccountId }, signature }
        assertError(yield* post(user, "withdraw", sent), RecipientInvalid, "message.recipientAccountId: ")
      }
    })
  )

  it.effect("a message of any portfolio but the path's is API_214, well-formed or not", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const { message, signature } = yield* signedBody(user)
      const others = [
        "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8",
        user.portfolioId.toLowerCase(),
        "a1b2c3d4",
        "",
        "x".repeat(9_000)
      ]
      for (const portfolioId of others) {
        const sent = { message: { ...message, portfolioId }, signature }
        assertError(yield* post(user, "withdraw", sent), PortfolioMismatch, "message.portfolioId: differs")
      }
      const none = { message: { ...message, portfolioId: 1 }, signature }
      assertError(yield* post(user, "withdraw", none), ValidationFailed, "message.portfolioId: ")
    })
  )

  it.effect("stage 2 takes the message in exactly the form of stage 1", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const { message, signature } = yield* signedBody(user)
      const refused: ReadonlyArray<readonly [body: unknown, detail: string]> = [
        [{ message }, "signature: "],
        [{ message, signature, flowId: "x" }, "flowId: "],
        [{ message: { ...message, memo: 1 }, signature }, "message.memo: "],
        [{ message: { ...message, liquidate: false }, signature }, "message.liquidate: "],
        [{ message: { ...message, expiresAt: String(message.expiresAt) }, signature }, "message.expiresAt: "],
        [{ message: { ...message, expiresAt: message.expiresAt + 0.5 }, signature }, "message.expiresAt: "],
        [{ message: { ...message, nonce: message.nonce.toUpperCase() }, signature }, "message.nonce: "],
        [
          { message: { ...message, recipientAccountId: message.recipientAccountId.toLowerCase() }, signature },
          "message.recipientAccountId: "
        ],
        [
          { message: { ...message, assets: [asset(baseUsdc.assetId.toLowerCase(), "1")] }, signature },
          "message.assets.0.assetId: "
        ],
        [
          { message: { ...message, assets: [asset(baseUsdc.assetId, "01")] }, signature },
          "message.assets.0.amountRaw: "
        ],
        [{ message, signature: signature.slice(0, -1) }, "signature: "],
        [{ message, signature: "abc" }, "signature: "]
      ]
      for (const [body, detail] of refused) {
        assertError(yield* post(user, "withdraw", body), ValidationFailed, detail)
      }
      const [claims] =
        yield* (yield* SqlClient.SqlClient)`SELECT 1 FROM withdrawal_claims WHERE tenant_id = ${user.tenantId}`
      assert.isUndefined(claims)
    })
  )
})
