/**
 * What is accepted of an owner's action, and what is refused before anything is stored. Source: interface "Portfolio
 * action submit".
 */
import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { Orders } from "#domain/order/Orders.ts"
import { IssuerQuotes } from "#domain/order/IssuerQuotes.ts"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { PortfolioNotFound, ReplayMismatch, SessionInvalid, ValidationFailed } from "#domain/errors/Errors.ts"
import { OperationLauncher } from "#domain/operation/OperationLauncher.ts"
import { addressOf } from "#layers/evm/address.ts"
import { makeProcedures } from "#rpc/client.ts"
import { baseUsdc, baseWeth } from "#test/support/assets.ts"
import { marketPortfolio } from "#test/support/enrolledPortfolio.ts"
import { MarketPorts } from "#test/support/chains/TestChains.ts"
import { TestSettings } from "#test/support/settings.ts"
import { makeMarket, TestChain } from "#test/support/chains/TestMarket.ts"
import { listening } from "#test/rpc/support/listening.ts"
import { makeSignInApi, origin, session, SignInApi } from "#test/rpc/support/SignInApi.ts"

const procedure = "v2.portfolio.actions.submit"

/** Chains, prices and the issuer as the tests script them. */
const market = makeMarket(() => new Map())

const launched: Array<string> = []
const Launcher = Layer.succeed(OperationLauncher, {
  capacity: Effect.succeed(1),
  launch: ({ operationId }) => Effect.sync(() => void launched.push(operationId)),
  wake: () => Effect.void
})

const Real = Orders.layer.pipe(
  Layer.provideMerge(IssuerQuotes.layer),
  Layer.provide([Launcher, Digest.layerWebCrypto, TestSettings, MarketPorts]),
  Layer.provide(Layer.succeed(TestChain, market))
)

interface Answer {
  readonly status: number
  readonly data: any
  readonly error: { readonly code: string; readonly message: string; readonly details?: ReadonlyArray<string> }
}

/** Submits on the wire of actions: `input` in, no `json` out. */
const submit = Effect.fnUntraced(function* (token: string | undefined, input: unknown) {
  const { handle } = yield* SignInApi
  return yield* Effect.promise(async (): Promise<Answer> => {
    const response = await handle(
      new Request(`http://api.test/v1/rpc/${procedure}`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
        },
        body: JSON.stringify({ input })
      })
    )
    const body = (await response.json()) as any
    assert.notProperty(body.result?.data ?? body.error, "json")
    return { status: response.status, data: body.result?.data, error: body.error }
  })
})

const assertError = (
  { error, status }: Answer,
  { contract }: { readonly contract: { readonly code: string; readonly status: number } },
  detail?: string
) => {
  assert.deepStrictEqual([status, error?.code], [contract.status, contract.code], JSON.stringify(error))
  if (detail !== undefined) assert.include(error.details?.join("\n") ?? "", detail)
}

/** A portfolio whose owner has signed in. */
const owner = Effect.gen(function* () {
  const { token, wallet } = yield* session()
  const portfolio = yield* Effect.provideService(
    marketPortfolio(wallet.address as EvmAddress, false),
    TestChain,
    market
  )
  return { ...portfolio, token, wallet, vault: addressOf(portfolio.accounts[0]) }
})
type Owner = Effect.Success<typeof owner>

const usdc = addressOf(baseUsdc.assetId)
const weth = addressOf(baseWeth.assetId)

const quoteOf = ({ portfolioId, vault }: Owner, changes: Record<string, unknown> = {}) => ({
  portfolioId,
  kind: "swap_backend_quote" as const,
  params: {
    fromChainId: "8453",
    fromTokenAddress: usdc,
    fromAmount: "1000000",
    toChainId: "8453",
    toTokenAddress: weth,
    toAddress: vault,
    ...changes
  }
})

const routeOf = ({ vault }: Owner) => {
  const fromToken = { address: usdc, chainId: 8453, symbol: "USDC", decimals: 6, name: "USD Coin", priceUSD: "1" }
  const toToken = {
    address: weth,
    chainId: 8453,
    symbol: "WETH",
    decimals: 18,
    name: "Wrapped Ether",
    priceUSD: "2500"
  }
  const action = { fromChainId: 8453, toChainId: 8453, fromToken, toToken, fromAmount: "1000000", slippage: 0.005 }
  const estimate = { tool: "pools", fromAmount: "1000000", toAmount: "400000000000000", toAmountMin: "398000000000000" }
  return {
    id: "route-1",
    fromChainId: 8453,
    toChainId: 8453,
    fromToken,
    toToken,
    fromAmount: "1000000",
    fromAddress: vault,
    toAddress: vault,
    toAmount: "400000000000000",
    toAmountMin: "398000000000000",
    containsSwitchChain: false,
    steps: [
      {
        id: "step-1",
        type: "lifi",
        tool: "pools",
        action: { ...action, fromAddress: vault, toAddress: vault },
        estimate
      }
    ]
  }
}

const swapOf = (user: Owner, route: unknown, params: Record<string, unknown> = {}) => ({
  portfolioId: user.portfolioId,
  kind: "swap",
  params: { chainId: "8453", route, ...params }
})

const stored = Effect.fnUntraced(function* ({ portfolioId }: Owner) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{
    readonly operationId: string
    readonly kind: string
    readonly state: string
    readonly order: any
  }>`
    SELECT o.operation_id AS "operationId", o.kind, o.state, a.order_document AS "order"
    FROM operations o LEFT JOIN orders a ON a.operation_id = o.operation_id WHERE o.portfolio_id = ${portfolioId}`
})

/** A change at a path of a value, in a copy. */
const changed = (value: any, path: string, to: unknown): unknown => {
  const [key, ...rest] = path.split(".")
  const copy = Array.isArray(value) ? [...value] : { ...value }
  copy[key!] = rest.length === 0 ? to : changed(value[key!], rest.join("."), to)
  return copy
}

const other = "0x8617E340B3D01FA5F11F306F4090FD50E238070D"

/** Every field of a route that means something, made false, and where the answer names it. */
const falseRoutes: ReadonlyArray<readonly [path: string, to: unknown, named: string]> = [
  ["fromChainId", 42161, "params.route.fromChainId"],
  ["toChainId", 42161, "params.route.toChainId"],
  ["fromToken.chainId", 42161, "params.route.fromToken.chainId"],
  ["toToken.chainId", 42161, "params.route.toToken.chainId"],
  ["toToken.address", usdc, "params.route.toToken.address"],
  ["fromAddress", other, "params.route.fromAddress"],
  ["toAddress", other, "params.route.toAddress"],
  ["fromAmount", "0", "params.route.fromAmount"],
  ["fromAmount", "-1", "params.route.fromAmount"],
  ["toAmountMin", "0", "params.route.toAmountMin"],
  ["toAmountMin", "500000000000000", "params.route.toAmountMin"],
  ["steps", [], "params.route.steps"],
  ["steps.0.type", "swap", "params.route.steps.0.type"],
  ["steps.0.action.fromChainId", 1, "params.route.steps.0.action.fromChainId"],
  ["steps.0.action.toChainId", 1, "params.route.steps.0.action.toChainId"],
  ["steps.0.action.fromToken.address", weth, "params.route.steps.0.action.fromToken.address"],
  ["steps.0.action.fromToken.chainId", 1, "params.route.steps.0.action.fromToken.chainId"],
  ["steps.0.action.toToken.address", usdc, "params.route.steps.0.action.toToken.address"],
  ["steps.0.action.toToken.chainId", 1, "params.route.steps.0.action.toToken.chainId"],
  ["steps.0.action.fromAmount", "2000000", "params.route.steps.0.action.fromAmount"],
  ["steps.0.action.fromAddress", other, "params.route.steps.0.action.fromAddress"],
  ["steps.0.action.toAddress", other, "params.route.steps.0.action.toAddress"],
  ["steps.0.estimate.fromAmount", "2", "params.route.steps.0.estimate.fromAmount"],
  ["steps.0.estimate.toAmount", "400000000000001", "params.route.steps.0.estimate.toAmount"],
  ["steps.0.estimate.toAmountMin", "1", "params.route.steps.0.estimate.toAmountMin"],
  ["steps.0.execution", { status: "PENDING", process: [{ type: "SWAP" }] }, "params.route.steps.0.execution"],
  ["steps.0.execution", { status: "PENDING", actions: [{ type: "SWAP" }] }, "params.route.steps.0.execution"],
  ["toToken.address", "0x12", "params.route.toToken.address"]
]

layer(makeSignInApi([origin], Real), { excludeTestServices: true })("actions of owners", (it) => {
  it.effect("a burst of one request makes one operation of kind swap, which is launched once", () =>
    Effect.gen(function* () {
      const user = yield* owner
      const input = { ...quoteOf(user, { slippageBps: 30 }), requestId: "burst", correlationId: "desk-1" }
      const answers = yield* Effect.forEach(Array.from({ length: 40 }), () => submit(user.token, input), {
        concurrency: "unbounded"
      })
      const [first] = answers
      assert.strictEqual(first!.status, 200, JSON.stringify(first!.error))
      for (const answer of answers) assert.deepStrictEqual(answer.data, first!.data)
      assert.deepInclude(first!.data, { state: "accepted", correlationId: "desk-1" })
      const { operationId, submittedAt } = first!.data
      assert.strictEqual(first!.data.refs.eventId, `${Date.parse(submittedAt)}-1`)
      const rows = yield* stored(user)
      assert.lengthOf(rows, 1)
      assert.deepInclude(rows[0], { operationId, kind: "swap", state: "accepted" })
      assert.deepInclude(rows[0]!.order, { amountRaw: "1000000", slippageBps: 30, sell: baseUsdc.assetId })
      assert.lengthOf(
        launched.filter((id) => id === operationId),
        1
      )
    })
  )

  it.effect("the id of a request is its portfolio's, and another request under it is refused", () =>
    Effect.gen(function* () {
      const [user, second] = [yield* owner, yield* owner]
      const input = { ...quoteOf(user), requestId: "same" }
      const first = yield* submit(user.token, input)
      const reordered = { requestId: "same", ...quoteOf(user) }
      assert.deepStrictEqual((yield* submit(user.token, reordered)).data, first.data)
      assertError(
        yield* submit(user.token, { ...quoteOf(user, { fromAmount: "2" }), requestId: "same" }),
        ReplayMismatch
      )
      assertError(yield* submit(user.token, { ...swapOf(user, routeOf(user)), requestId: "same" }), ReplayMismatch)
      const elsewhere = yield* submit(second.token, { ...quoteOf(second), requestId: "same" })
      assert.notStrictEqual(elsewhere.data.operationId, first.data.operationId)
      const one = yield* submit(user.token, quoteOf(user))
      const two = yield* submit(user.token, quoteOf(user))
      assert.notStrictEqual(one.data.operationId, two.data.operationId, "without an id nothing ties them")
      assert.match(one.data.correlationId, /^[0-9a-z]+$/)
    })
  )

  it.effect("only the owner's own portfolio is there, whoever's tenant it is", () =>
    Effect.gen(function* () {
      const [user, stranger] = [yield* owner, yield* owner]
      assertError(yield* submit(stranger.token, quoteOf(user)), PortfolioNotFound)
      assertError(
        yield* submit(user.token, { ...quoteOf(user), portfolioId: "pf_01JQ8ZM0R2W4Y6A8C0E2G4J6K8" }),
        PortfolioNotFound
      )
      assertError(yield* submit(undefined, quoteOf(user)), SessionInvalid)
      assertError(yield* submit("bs_guess", quoteOf(user)), SessionInvalid)
      assert.isEmpty(yield* stored(user))
    })
  )

  it.effect("what a quoted swap cannot be is named field by field, and nothing is stored", () =>
    Effect.gen(function* () {
      const user = yield* owner
      const wrong: ReadonlyArray<readonly [changes: Record<string, unknown>, named: string]> = [
        [{ toChainId: "42161" }, "params.toChainId"],
        [{ fromChainId: "10" }, "params.fromChainId"],
        [{ toAddress: other }, "params.toAddress"],
        [{ toAddress: user.wallet.address === user.vault ? other : user.wallet.address }, "params.toAddress"],
        [{ toTokenAddress: usdc }, "params.toTokenAddress"],
        [{ toTokenAddress: other }, "params.toTokenAddress"],
        [{ fromTokenAddress: other }, "params.fromTokenAddress"]
      ]
      for (const [changes, named] of wrong) {
        assertError(yield* submit(user.token, quoteOf(user, changes)), ValidationFailed, named)
      }
      const malformed = [
        quoteOf(user, { fromAmount: "1.5" }),
        quoteOf(user, { fromAmount: "0" }),
        quoteOf(user, { slippageBps: 1001 }),
        quoteOf(user, { slippageBps: -1 }),
        quoteOf(user, { fromChainId: 8453 }),
        quoteOf(user, { toAddress: "vault" }),
        { ...quoteOf(user), kind: "transfer" },
        { ...quoteOf(user), requestId: "" },
        { ...quoteOf(user), requestId: "x".repeat(129) },
        { ...quoteOf(user), portfolioId: "pf_nobody" },
        {},
        null
      ]
      for (const input of malformed) assertError(yield* submit(user.token, input), ValidationFailed)
      assert.isEmpty(yield* stored(user))
    })
  )

  for (const [path, to, named] of falseRoutes) {
    it.effect(`a route whose ${path} is ${JSON.stringify(to)} is refused by that name`, () =>
      Effect.gen(function* () {
        const user = yield* owner
        const answer = yield* submit(user.token, swapOf(user, changed(routeOf(user), path, to)))
        assertError(answer, ValidationFailed, `${named}: `)
        assert.isEmpty(yield* stored(user))
      })
    )
  }

  it.effect("an input of another form is refused by the field that says which form was meant", () =>
    Effect.gen(function* () {
      const mine = yield* owner
      const { portfolioId } = mine
      for (const [input, ...details] of [
        [{}, 'kind: is required: "swap_backend_quote" or "swap"'],
        [{ portfolioId, kind: "bridge", params: {} }, 'kind: Expected "swap_backend_quote" or "swap"'],
        [{ portfolioId, kind: "swap" }, "params: is required"],
        [
          { portfolioId, kind: "swap", params: { provider: "foo" } },
          'params.provider: Expected "issuer_direct" or "lifi"'
        ],
        [
          { portfolioId, kind: "swap", params: { provider: "issuer_direct" } },
          "params.chainId: is required",
          "params.sellTokenAddress: is required",
          "params.buyTokenAddress: is required",
          "params.sellAmount: is required",
          "params.recipientAddress: is required"
        ],
        [[], "input: Expected an object"],
        ["x", "input: Expected an object"]
      ] as const) {
        const { error, status } = yield* submit(mine.token, input)
        assert.deepStrictEqual([status, error?.details], [400, details], JSON.stringify(input))
      }
    })
  )

  it.effect("a route is held to what its client expects of it", () =>
    Effect.gen(function* () {
      const user = yield* owner
      const expects = (executionConstraints: unknown) => swapOf(user, routeOf(user), { executionConstraints })
      assertError(
        yield* submit(user.token, expects({ expectedVaultChainId: "42161" })),
        ValidationFailed,
        "params.executionConstraints.expectedVaultChainId"
      )
      const crossing = changed(changed(routeOf(user), "toChainId", 42161), "toToken.chainId", 42161)
      assertError(
        yield* submit(user.token, swapOf(user, crossing, { executionConstraints: { sameChainOnly: true } })),
        ValidationFailed,
        "as sameChainOnly requires"
      )
      const step = routeOf(user).steps[0]
      const twice = { ...routeOf(user), steps: [step, step] }
      assertError(yield* submit(user.token, swapOf(user, twice)), ValidationFailed, "the route has 2")
      assertError(yield* submit(user.token, swapOf(user, "route")), ValidationFailed, "params.route")
      assert.isEmpty(yield* stored(user))
      const accepted = yield* submit(user.token, expects({ sameChainOnly: true, expectedVaultChainId: "8453" }))
      assert.strictEqual(accepted.status, 200, JSON.stringify(accepted.error))
      const [row] = yield* stored(user)
      assert.strictEqual(row!.order.route.minRaw, "398000000000000")
      // Another slippage in place of the route's: one per cent of what it expects.
      yield* submit(user.token, swapOf(user, routeOf(user), { slippageBps: 100 }))
      const minimums = (yield* stored(user)).map(({ order }) => order.route.minRaw).sort()
      assert.deepStrictEqual(minimums, ["396000000000000", "398000000000000"])
    })
  )

  it.effect("a portfolio that its owner revoked is traded no more; what was accepted before is still answered", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const user = yield* owner
      const before = yield* submit(user.token, { ...quoteOf(user), requestId: "early" })
      yield* sql`UPDATE portfolios SET revoked_at = now() WHERE portfolio_id = ${user.portfolioId}`
      assertError(yield* submit(user.token, quoteOf(user)), ValidationFailed, "portfolioId: revoked")
      assert.deepStrictEqual((yield* submit(user.token, { ...quoteOf(user), requestId: "early" })).data, before.data)
    })
  )

  it.effect("Effect's RPC takes the same input and gives the same answers", () =>
    Effect.gen(function* () {
      const { handle } = yield* SignInApi
      const user = yield* owner
      const baseUrl = yield* listening(handle)
      const client = yield* makeProcedures({ baseUrl, token: Redacted.make(user.token) })
      const input = { ...quoteOf(user), requestId: "native" }
      const answer = yield* client(procedure, input)
      assert.deepStrictEqual((yield* submit(user.token, input)).data, answer)
      assert.isAtMost(Date.parse(answer.submittedAt), (yield* DateTime.now).epochMilliseconds)
      const refused = yield* Effect.flip(client(procedure, quoteOf(user, { toChainId: "42161" })))
      assert.strictEqual(refused._tag, "ValidationFailed")
    })
  )
})
