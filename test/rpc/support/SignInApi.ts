/** The procedures of identity and keys over the real database and verifier, on chains that cannot be reached. */
import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import { HttpEffect, HttpRouter } from "effect/http"
import { ChainId } from "#domain/values/Caip.ts"
import { createSiweMessage } from "viem/siwe"
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts"
import { assert } from "@effect/vitest"
import type { TenantId } from "#domain/values/Ids.ts"
import { Orders } from "#domain/order/Orders.ts"
import { IssuerQuotes } from "#domain/order/IssuerQuotes.ts"
import type { IssuerQuoteStore } from "#domain/order/IssuerQuoteStore.ts"
import type { OrderStore } from "#domain/order/OrderStore.ts"
import type { Assets } from "#domain/asset/Assets.ts"
import { AccessChanges } from "#domain/identity/AccessChanges.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { Members } from "#domain/identity/Members.ts"
import { OperatorToken } from "#domain/identity/OperatorToken.ts"
import { OwnKeys } from "#domain/identity/OwnKeys.ts"
import { Sessions } from "#domain/identity/Sessions.ts"
import { SignIns } from "#domain/identity/SignIns.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { AssetBrowsing } from "#domain/listing/AssetBrowsing.ts"
import { AssetProfiles } from "#domain/listing/AssetProfiles.ts"
import { AssetSearch } from "#domain/listing/AssetSearch.ts"
import { CountryHeader } from "#domain/listing/CountryHeader.ts"
import { CryptoMarketData } from "#domain/marketData/CryptoMarketData.ts"
import { MarketDataStream } from "#domain/stream/MarketDataStream.ts"
import { TenantOrigins } from "#domain/tenant/TenantOrigins.ts"
import { browserAccess } from "#http/serving/browserAccess.ts"
import { routerConfig } from "#http/routerSettings.ts"
import { SignInVerifierLive } from "#layers/evm/account/SignInVerifierLive.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { ProcedureRoutes } from "#rpc/Procedures.ts"
import { SessionCookie } from "#domain/identity/access/SessionCookie.ts"
import { MovableClock } from "#test/support/MovableClock.ts"
import { TestLimits } from "#test/rpc/support/MarketApi.ts"
import { NoExecutions } from "#test/rpc/support/NoExecutions.ts"
import { configFor } from "#test/layers/evm/EvmWorld.ts"
import { TestStores } from "#test/support/database.ts"
import { nothingRefused } from "#test/support/nothingRefused.ts"

export const origin = "https://app.example.com"

export interface SignInAnswer {
  readonly status: number
  readonly headers: Headers
  /** What the procedure answered. */
  readonly data: any
  readonly error: { readonly code: string; readonly message: string; readonly details?: ReadonlyArray<string> }
}

/** Fields of a message, and what a test makes wrong about them. */
export interface Fields {
  readonly domain: string
  readonly uri: string
  readonly version: "1"
  readonly chainId: number
  readonly nonce: string
  readonly issuedAt: Date
  readonly expirationTime: Date
  readonly notBefore: Date
  readonly statement: string
}

export interface SignInOptions {
  readonly fields?: Partial<Fields>
  readonly delivery?: "bearer" | "cookie"
  readonly tenantId?: string
}

export class SignInApi extends Context.Service<
  SignInApi,
  {
    readonly call: (
      procedure: string,
      input?: unknown,
      headers?: Readonly<Record<string, string>>
    ) => Effect.Effect<SignInAnswer>
    /** Calls a procedure with a session's token. */
    readonly as: (token: string, procedure: string, input?: unknown) => Effect.Effect<SignInAnswer>
    readonly handle: (request: Request) => Promise<Response>
    readonly messageOf: (account: PrivateKeyAccount, fields?: Partial<Fields>) => Effect.Effect<string>
    /** Asks for a nonce, signs and sends. */
    readonly signIn: (account: PrivateKeyAccount, options?: SignInOptions) => Effect.Effect<SignInAnswer>
    readonly now: () => Date
    readonly advance: (milliseconds: number) => void
  }
>()("ballast/test/rpc/SignInApi") {}

const server = Layer.effect(
  SignInApi,
  Effect.gen(function* () {
    const clock = yield* MovableClock
    const { currentTimeMillisUnsafe } = yield* Clock.Clock
    const httpEffect = yield* HttpRouter.toHttpEffect(
      Layer.merge(ProcedureRoutes, browserAccess([origin])).pipe(Layer.provide(nothingRefused))
    )
    const handle = HttpEffect.toWebHandlerWith(yield* Effect.context<never>())(
      httpEffect as typeof httpEffect & Effect.Effect<never>
    )
    const now = () => new Date(currentTimeMillisUnsafe())

    const call: SignInApi["Service"]["call"] = (procedure, input, headers = {}) =>
      Effect.promise(async () => {
        const response = await handle(
          new Request(`http://api.test/v1/rpc/${procedure}`, {
            method: "POST",
            headers: { "content-type": "application/json", ...headers },
            body: JSON.stringify({ json: input })
          })
        )
        const body = (await response.json()) as any
        return {
          status: response.status,
          headers: response.headers,
          data: body.result?.data.json,
          error: body.error?.json
        }
      })

    const messageOf: SignInApi["Service"]["messageOf"] = Effect.fnUntraced(function* (account, fields = {}) {
      const nonce = fields.nonce ?? (yield* call("identity.nonce")).data.nonce
      const { chainId = 1, domain = "app.example.com", issuedAt = now(), uri = `${origin}/login`, ...others } = fields
      return createSiweMessage({
        address: account.address,
        version: "1",
        ...others,
        chainId,
        domain,
        issuedAt,
        uri,
        nonce
      })
    })

    const signIn: SignInApi["Service"]["signIn"] = Effect.fnUntraced(function* (account, { fields, ...options } = {}) {
      const message = yield* messageOf(account, fields)
      const signature = yield* Effect.promise(() => account.signMessage({ message }))
      return yield* call("identity.signIn", { message, signature, ...options })
    })

    return SignInApi.of({
      call,
      as: (token, procedure, input) => call(procedure, input, { authorization: `Bearer ${token}` }),
      handle,
      messageOf,
      signIn,
      now,
      advance: clock.advance
    })
  })
).pipe(Layer.provide(Layer.succeed(HttpRouter.RouterConfig, routerConfig)))

const unused = () => {
  throw new Error("No test of identity asks for this")
}

const Unused = Layer.mergeAll(
  Layer.mock(AssetBrowsing, {
    browseAssets: unused,
    stockSnapshot: unused,
    browseStocks: unused,
    browseStocksForSelection: unused,
    stockHighlights: unused
  }),
  Layer.mock(AssetProfiles, { overlays: unused }),
  Layer.mock(AssetSearch, { forCommandPalette: unused, forTokens: unused }),
  Layer.mock(CryptoMarketData, {}),
  Layer.mock(MarketDataStream, {}),
  Layer.succeed(CountryHeader, { country: null, region: null }),
  OperatorToken.layer(null),
  NoExecutions,
  TestLimits
)

/** What actions are made of, when a test is about them. */
type ActionServices = OrderStore | Assets | IssuerQuoteStore | SecureRandom.SecureRandom

const NoActions: Layer.Layer<Orders | IssuerQuotes, never, ActionServices> = Layer.merge(
  Layer.mock(Orders, { submit: unused }),
  Layer.mock(IssuerQuotes, {})
)

/** A deployment whose pages are served by `origins`. */
export const makeSignInApi = (
  origins: ReadonlyArray<string> = [origin],
  actions: Layer.Layer<Orders | IssuerQuotes, never, ActionServices> = NoActions,
  stores: typeof TestStores = TestStores
) =>
  server.pipe(
    Layer.provide(Unused),
    Layer.provide(actions),
    Layer.provide(TenantOrigins.layerEvery(Duration.millis(20))),
    Layer.provide(Layer.succeed(SessionCookie, { isSecure: true })),
    Layer.provideMerge(Layer.mergeAll(SignIns.layer, Members.layer, OwnKeys.layer, ApiKeys.layer)),
    Layer.provideMerge(Layer.merge(Sessions.layer, Tenants.layer)),
    Layer.provide(AccessChanges.layer),
    Layer.provide(SignInVerifierLive),
    Layer.provide(EvmClients.layer),
    Layer.provide(
      Layer.mergeAll(
        Layer.succeed(SignInSettings, { origins, chainIds: [ChainId.make(8453)] }),
        Layer.succeed(EvmConfig, { ...configFor([]), chains: [] })
      )
    ),
    Layer.provideMerge(KeyHashLive),
    Layer.provide(Layer.succeed(KeyHashConfig, { pepper: Redacted.make("pepper of the tests, 32 characters") })),
    Layer.provideMerge(SecureRandom.layerWebCrypto),
    Layer.provideMerge(stores),
    Layer.provideMerge(MovableClock.layer)
  )

export const newWallet = () => privateKeyToAccount(generatePrivateKey())

interface Contract {
  readonly contract: { readonly code: string; readonly status: number }
}

export const assertError = (answer: SignInAnswer, { contract }: Contract, detail?: string) => {
  assert.deepStrictEqual([answer.status, answer.error?.code], [contract.status, contract.code])
  if (detail !== undefined) assert.include(answer.error.details?.join("\n") ?? "", detail)
}

/** A session of somebody new, or of the given wallet. */
export const session = Effect.fnUntraced(function* (options: SignInOptions = {}, wallet = newWallet()) {
  const { signIn } = yield* SignInApi
  const answer = yield* signIn(wallet, options)
  assert.strictEqual(answer.status, 200, JSON.stringify(answer.error))
  return {
    wallet,
    answer,
    token: answer.data.token as string,
    ...(answer.data as { userId: string; tenantId: TenantId })
  }
})
