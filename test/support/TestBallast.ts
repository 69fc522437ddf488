/**
 * The whole service as one layer, for tests of what its parts do together: the composition that a deployment runs, with
 * its engine, its scheduler and all that goes on by the clock, over an embedded database, and with chains and prices
 * that a test scripts (`TestChain`).
 *
 * The type says that nothing is missing: a service that the composition needs and that nothing here gives is an error
 * of the compiler.
 */
import { NodeCrypto } from "@effect/platform-node"
import { Duration, Effect, Layer, Redacted, Schedule } from "effect"
import { StreamSettings } from "#domain/execution/StreamSettings.ts"
import { SignInSettings } from "#domain/identity/SignInSettings.ts"
import { SignInVerifier } from "#domain/identity/SignInVerifier.ts"
import type { OperationId, PortfolioId, TenantId } from "#domain/values/Ids.ts"
import { MarketDataAccess } from "#domain/marketData/MarketDataAccess.ts"
import { isTerminal } from "#domain/operation/Operation.ts"
import { OperationStore } from "#domain/operation/OperationStore.ts"
import { ChainNodes } from "#domain/chain/ChainNodes.ts"
import { RelayerFunds } from "#domain/relay/RelayerFunds.ts"
import { OperatorAccount } from "#domain/strategy/OperatorAccount.ts"
import { IssuerPoliciesLive } from "#layers/catalogue/IssuerPoliciesLive.ts"
import { LivenessSettings } from "#layers/engine/LivenessLive.ts"
import { KeyHashConfig } from "#layers/identity/KeyHashConfig.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { SecretBoxLive } from "#layers/identity/SecretBoxLive.ts"
import { CoinGeckoConfig } from "#layers/market/CoinGeckoConfig.ts"
import { MarketDataConfig } from "#layers/market/MarketDataJobsLive.ts"
import { WebhookConfig } from "#layers/webhook/WebhookConfig.ts"
import { WebhookSenderLive } from "#layers/webhook/WebhookSenderLive.ts"
import { ServiceWithin } from "#src/service/Service.ts"
import { NoSolana, streamSettings } from "#test/api/support/Api.ts"
import { PastPrices } from "#test/api/support/PastPrices.ts"
import { TestAccounts } from "#test/api/support/TestEnvironment.ts"
import { TestChains } from "#test/support/chains/TestChains.ts"
import { TestStores } from "#test/support/database.ts"
import { TestSettings } from "#test/support/settings.ts"
import { patience } from "#test/support/suite/patience.ts"

/** A deployment without providers of market data, sign-in or webhooks of its own; nobody outside is asked. */
const Configuration = Layer.mergeAll(
  TestSettings,
  IssuerPoliciesLive(null),
  Layer.succeed(StreamSettings, streamSettings),
  Layer.succeed(SignInSettings, { origins: [], chainIds: [] }),
  Layer.succeed(OperatorAccount, { address: null }),
  Layer.succeed(LivenessSettings, { within: Duration.minutes(3) }),
  Layer.succeed(KeyHashConfig, { pepper: Redacted.make("pepper of the whole service in tests") }),
  Layer.succeed(WebhookConfig, { targets: "loopback" }),
  Layer.succeed(MarketDataAccess, { coinGecko: "none", massive: false, coinbase: false, xstocks: false }),
  Layer.succeed(CoinGeckoConfig, { baseUrl: "http://127.0.0.1:9", apiKey: null, plan: "demo" }),
  Layer.succeed(MarketDataConfig, {
    massive: null,
    coinbaseUrl: null,
    xStocksUrl: null,
    perMinute: { coingecko: 1, massive: 1, coinbase: 1, xstocks: 1 }
  })
)

const Adapters = Layer.mergeAll(
  NoSolana,
  SecretBoxLive,
  WebhookSenderLive,
  PastPrices.layer,
  Layer.mock(SignInVerifier, {}),
  Layer.succeed(ChainNodes, { behind: Effect.succeed([]) }),
  Layer.succeed(RelayerFunds, { chains: [], read: () => Effect.succeed([]) })
).pipe(Layer.provideMerge(KeyHashLive))

const Surroundings = Layer.mergeAll(Adapters, TestChains, TestAccounts).pipe(
  Layer.provideMerge(Configuration),
  Layer.provideMerge(TestStores),
  Layer.provideMerge(NodeCrypto.layer)
)

const whole = ServiceWithin.pipe(Layer.provideMerge(Surroundings))

export const TestBallast: Layer.Layer<
  Layer.Success<typeof ServiceWithin> | Layer.Success<typeof Surroundings>,
  Layer.Error<typeof whole>
> = whole

/** What names an operation. */
interface Started {
  readonly tenantId: TenantId
  readonly portfolioId: PortfolioId
  readonly operationId: OperationId
}

/** An operation once it has ended, however it did. */
export const finished = ({ operationId, portfolioId, tenantId }: Started) =>
  Effect.flatMap(OperationStore, (store) => store.find(tenantId, portfolioId, operationId)).pipe(
    Effect.flatMap(Effect.fromOption),
    Effect.filterOrFail(({ state }) => isTerminal(state)),
    Effect.retry(Schedule.spaced("50 millis")),
    Effect.timeout(patience)
  )
