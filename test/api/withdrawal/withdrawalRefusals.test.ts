/**
 * What stage 2 refuses, on both of its routes: the owner may sign any message, so each of these can arrive, signed
 * rightly. The same rules at stage 1 are in withdrawals.test.ts and liquidations.test.ts.
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Deferred, Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { addressOf } from "#domain/values/Caip.ts"
import {
  AuthorizationExpired,
  ChainMismatch,
  DuplicateAsset,
  PortfolioMismatch,
  RateLimited,
  RecipientInvalid,
  ReplayInProgress,
  ReplayMismatch,
  SettlementUnsupported,
  SignatureInvalid,
  SmartAccountMissing,
  ValidationFailed,
  VerifierUnavailable
} from "#domain/errors/Errors.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { GasLedger } from "#domain/relay/GasLedger.ts"
import { ApiLive } from "#test/api/support/Api.ts"
import { assertError } from "#test/api/support/assertions.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { serviceContract, TestEnvironment } from "#test/api/support/TestEnvironment.ts"
import { newWallet, signTypedData } from "#test/api/support/wallets.ts"
import {
  activateChain56,
  enrolled,
  issue,
  post,
  recipientOn,
  rowsOf,
  setBalance,
  signedBody,
  type Withdrawer
} from "#test/api/support/withdrawing.ts"
import { arbUsdc, baseUsdc } from "#test/support/assets.ts"

type Route = "withdraw" | "liquidate-all"

const nothing = { claims: 0, withdrawals: 0, operations: 0 }

/** A message of stage 1, changed, and signed as it then is. Both routes take one that liquidates. */
const signed = Effect.fnUntraced(function* (
  user: Withdrawer,
  changes: Record<string, unknown> = {},
  wallet = user.wallet
) {
  const { typedData } = yield* issue(user, { liquidate: true })
  const message = { ...typedData.message, ...changes }
  const signature = yield* Effect.promise(() => signTypedData(wallet, { ...typedData, message }))
  return { message, signature }
})

const asset = (assetId: string) => ({ assetId, amountRaw: "1" })
const mainnetUsdc = "eip155:1/erc20:0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"
const usdcOn56 = "eip155:56/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"

const terms: ReadonlyArray<
  readonly [
    what: string,
    changes: (user: Withdrawer) => Record<string, unknown>,
    error: Parameters<typeof assertError>[1],
    detail: string
  ]
> = [
  [
    "nobody as recipient",
    () => ({ recipientAccountId: `eip155:8453:0x${"0".repeat(40)}` }),
    RecipientInvalid,
    "message.recipientAccountId: is the zero address"
  ],
  [
    "the account itself as recipient",
    ({ base }) => ({ recipientAccountId: base }),
    RecipientInvalid,
    "message.recipientAccountId: is the smart account"
  ],
  [
    "the token as recipient",
    () => ({ recipientAccountId: `eip155:8453:${addressOf(baseUsdc.assetId)}` }),
    RecipientInvalid,
    "message.recipientAccountId: is the contract of a token"
  ],
  [
    "a contract of the service as recipient",
    () => ({ recipientAccountId: `eip155:8453:${serviceContract}` }),
    RecipientInvalid,
    "message.recipientAccountId: is a contract that this service works with"
  ],
  [
    "a precompile as recipient",
    () => ({ recipientAccountId: `eip155:8453:0x${"4".padStart(40, "0")}` }),
    RecipientInvalid,
    "message.recipientAccountId: is an address that the chain reserves"
  ],
  [
    "an asset that is named twice",
    () => ({ assets: [asset(baseUsdc.assetId), asset(baseUsdc.assetId)] }),
    DuplicateAsset,
    "message.assets.1.assetId: the same as message.assets.0"
  ],
  [
    "an asset on another chain than the recipient",
    () => ({ assets: [asset(baseUsdc.assetId), asset(arbUsdc.assetId)] }),
    ChainMismatch,
    "message.assets.1.assetId: is on chain 42161"
  ],
  [
    "a chain on which there is no account",
    () => ({ recipientAccountId: recipientOn(1), assets: [asset(mainnetUsdc)] }),
    SmartAccountMissing,
    "message.recipientAccountId: the portfolio has no smart account on chain 1"
  ],
  [
    "a chain without a settlement asset",
    () => ({ recipientAccountId: recipientOn(56), assets: [asset(usdcOn56)] }),
    SettlementUnsupported,
    "message.recipientAccountId: assets cannot be liquidated on chain 56"
  ],
  [
    "another portfolio",
    () => ({ portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" }),
    PortfolioMismatch,
    "message.portfolioId: differs"
  ]
]

layer(ApiLive, { excludeTestServices: true })("refusals of withdrawals", (it) => {
  for (const route of ["withdraw", "liquidate-all"] as const satisfies ReadonlyArray<Route>) {
    for (const [what, changes, error, detail] of terms) {
      it.effect(`${route} refuses ${what}`, () =>
        Effect.gen(function* () {
          const user = yield* enrolled()
          yield* activateChain56(user)
          assertError(yield* post(user, route, yield* signed(user, changes(user))), error, detail)
          assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
        })
      )
    }

    it.effect(`${route} refuses a message whose time is over`, () =>
      Effect.gen(function* () {
        const user = yield* enrolled()
        const body = yield* signed(user)
        ;(yield* MovableClock).advance(600_001)
        assertError(yield* post(user, route, body), AuthorizationExpired, "message.expiresAt: was ")
        assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
      })
    )

    it.effect(`${route} refuses the signature of anybody but the owner`, () =>
      Effect.gen(function* () {
        const user = yield* enrolled()
        assertError(yield* post(user, route, yield* signed(user, {}, newWallet())), SignatureInvalid, "signature: ")
        assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
      })
    )

    it.effect(`${route} is refused while the chain does not answer, and takes the same body later`, () =>
      Effect.gen(function* () {
        const environment = yield* TestEnvironment
        const user = yield* enrolled()
        const body = yield* signed(user)
        environment.chainsDown = true
        const down = yield* post(user, route, body).pipe(
          Effect.ensuring(Effect.sync(() => (environment.chainsDown = false)))
        )
        assertError(down, VerifierUnavailable)
        assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
        assert.strictEqual((yield* post(user, route, body)).status, 202)
      })
    )

    it.effect(`${route} carries a nonce out once: at work it says wait, with another body it is a conflict`, () =>
      Effect.gen(function* () {
        const environment = yield* TestEnvironment
        const user = yield* enrolled()
        const body = yield* signed(user)
        const [entered, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        environment.beforeSignature = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(released))
        const first = yield* Effect.forkChild(post(user, route, body))
        yield* Deferred.await(entered)
        environment.beforeSignature = Effect.void
        assertError(yield* post(user, route, body), ReplayInProgress)
        yield* Deferred.succeed(released, undefined)
        const accepted = yield* Fiber.join(first)
        assert.strictEqual(accepted.status, 202)
        const other = yield* signed(user, { nonce: body.message.nonce, assets: [asset(baseUsdc.assetId)] })
        assertError(yield* post(user, route, other), ReplayMismatch)
        assert.deepStrictEqual((yield* post(user, route, body)).json, accepted.json)
        assert.deepStrictEqual(yield* rowsOf(user.portfolioId), { claims: 1, withdrawals: 1, operations: 1 })
      })
    )
  }

  it.effect("a token that is not in the catalogue is not paid for, and the answer says how it is sent without us", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const unknown = "eip155:8453/erc20:0x52908400098527886E0F7030069857D2E4169EE7"
      yield* setBalance(user.base, unknown, 5n)
      const assets = [
        { assetId: baseUsdc.assetId, amountRaw: "1" },
        { assetId: unknown, amountRaw: "1" }
      ]
      const body = yield* signedBody(user, { assets })
      const answer = yield* post(user, "withdraw", body)
      assertError(answer, ValidationFailed, "message.assets.1.assetId: is not in the catalogue")
      const { details } = answer.json.error
      assert.lengthOf(details, 3)
      assert.match(details[1], /anybody can send it: on chain 8453 a transaction to 0x\w+ with the data 0xad$/)
      assert.match(details[2], /has no code yet, first one to 0x\w+ with the data 0xde$/)
      assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
    })
  )

  it.effect(
    "an owner without gas for the day is answered when there is gas again, and how to withdraw without us",
    () =>
      Effect.gen(function* () {
        const user = yield* enrolled()
        const ledger = yield* GasLedger
        const now = yield* DateTime.now
        const spend = { tenantId: user.tenantId, portfolioId: user.portfolioId as PortfolioId }
        yield* (yield* SqlClient.SqlClient)`
        INSERT INTO gas_spent (tenant_id, portfolio_id, day, gas, owner_gas)
        VALUES (${user.tenantId}, ${user.portfolioId}, ${DateTime.formatIsoDateUtc(now)}::date, 0, 1000000000000)`
        assert.strictEqual((yield* ledger.spent(spend, now)).owner, 10n ** 12n)
        const answer = yield* post(user, "withdraw", yield* signedBody(user))
        assertError(answer, RateLimited)
        assert.include(answer.json.error.message, "gas")
        assert.include(answer.json.error.details[0], "anybody can send it")
        const wait = Number(answer.headers.get("retry-after"))
        assert.isTrue(wait > 0 && wait <= 86_400)
        assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
      })
  )

  it.effect("an owner withdraws though the agent has used up all gas of the portfolio and its tenant", () =>
    Effect.gen(function* () {
      const user = yield* enrolled()
      const day = DateTime.formatIsoDateUtc(yield* DateTime.now)
      const spent = 10n ** 15n
      for (const portfolioId of [user.portfolioId, ""])
        yield* (yield* SqlClient.SqlClient)`
          INSERT INTO gas_spent (tenant_id, portfolio_id, day, gas)
          VALUES (${user.tenantId}, ${portfolioId}, ${day}::date, ${String(spent)}::numeric)`
      const answer = yield* post(user, "withdraw", yield* signedBody(user))
      assert.strictEqual(answer.status, 202, answer.text)
    })
  )
})
