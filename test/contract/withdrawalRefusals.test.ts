/**
 * What stage 2 refuses, on both of its routes: the owner may sign any message, so each of these can arrive, signed
 * rightly. The same rules at stage 1 are in withdrawals.test.ts and liquidations.test.ts.
 */
import { assert, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import {
  AuthorizationExpired,
  ChainMismatch,
  DuplicateAsset,
  PortfolioMismatch,
  RecipientInvalid,
  ReplayInProgress,
  ReplayMismatch,
  SettlementUnsupported,
  SignatureInvalid,
  SmartAccountMissing,
  VerifierUnavailable
} from "#domain/Errors.ts"
import { ApiLive } from "#test/contract/support/Api.ts"
import { assertError } from "#test/contract/support/assertions.ts"
import { MovableClock } from "#test/contract/support/MovableClock.ts"
import { Surroundings } from "#test/contract/support/Surroundings.ts"
import { newWallet, signTypedData } from "#test/contract/support/wallets.ts"
import {
  activateChain56,
  enrolled,
  issue,
  post,
  recipientOn,
  rowsOf,
  type Withdrawer
} from "#test/contract/support/withdrawing.ts"
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
    "recipientAccountId: is the zero address"
  ],
  [
    "the account itself as recipient",
    ({ base }) => ({ recipientAccountId: base }),
    RecipientInvalid,
    "recipientAccountId: is the smart account"
  ],
  [
    "an asset that is named twice",
    () => ({ assets: [asset(baseUsdc.assetId), asset(baseUsdc.assetId)] }),
    DuplicateAsset,
    "assets.1.assetId: the same as assets.0"
  ],
  [
    "an asset on another chain than the recipient",
    () => ({ assets: [asset(baseUsdc.assetId), asset(arbUsdc.assetId)] }),
    ChainMismatch,
    "assets.1.assetId: is on chain 42161"
  ],
  [
    "a chain on which there is no account",
    () => ({ recipientAccountId: recipientOn(1), assets: [asset(mainnetUsdc)] }),
    SmartAccountMissing,
    "recipientAccountId: the portfolio has no smart account on chain 1"
  ],
  [
    "a chain without a settlement asset",
    () => ({ recipientAccountId: recipientOn(56), assets: [asset(usdcOn56)] }),
    SettlementUnsupported,
    "recipientAccountId: assets cannot be liquidated on chain 56"
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

    it.effect(`${route} cannot tell while the chain does not answer, and takes the same body later`, () =>
      Effect.gen(function* () {
        const surroundings = yield* Surroundings
        const user = yield* enrolled()
        const body = yield* signed(user)
        surroundings.chainsDown = true
        const down = yield* post(user, route, body).pipe(
          Effect.ensuring(Effect.sync(() => (surroundings.chainsDown = false)))
        )
        assertError(down, VerifierUnavailable)
        assert.deepStrictEqual(yield* rowsOf(user.portfolioId), nothing)
        assert.strictEqual((yield* post(user, route, body)).status, 202)
      })
    )

    it.effect(`${route} carries a nonce out once: at work it says wait, with another body it is a conflict`, () =>
      Effect.gen(function* () {
        const surroundings = yield* Surroundings
        const user = yield* enrolled()
        const body = yield* signed(user)
        const [entered, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        surroundings.beforeSignature = Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(released))
        const first = yield* Effect.forkChild(post(user, route, body))
        yield* Deferred.await(entered)
        surroundings.beforeSignature = Effect.void
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
})
