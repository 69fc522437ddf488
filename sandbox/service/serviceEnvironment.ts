import { Effect, Redacted } from "effect"
import { join } from "node:path"
import * as Base58 from "#domain/values/Base58.ts"
import { solanaChainId } from "#domain/values/Caip.ts"
import { operator } from "#sandbox/chain/canonical.ts"
import { issuerChainOf } from "#sandbox/chain/issuer.ts"
import { rpcPath } from "#sandbox/chain/rpcProxy.ts"
import { WorldChains } from "#sandbox/chain/SandboxChains.ts"
import { endpointsOfChain } from "#sandbox/faults/Faults.ts"
import { derivedSecret } from "#sandbox/process/derivedSecret.ts"
import { solanaAgent } from "#sandbox/solana/solanaAgent.ts"
import { WorldConfig } from "#sandbox/WorldConfig.ts"
import { WorldFile } from "#sandbox/WorldFile.ts"

/** Requests a minute: not to be felt. */
const rateLimit = "10000"

/**
 * The environment of the service in this world. What the user set wins, except for the port and the folder, which the
 * world derives from the user's own.
 */
export const serviceEnvironment = Effect.gen(function* () {
  const config = yield* WorldConfig
  const { secrets } = yield* (yield* WorldFile).state
  const chains = yield* WorldChains
  const perChain = chains.all.flatMap((chain): ReadonlyArray<readonly [string, string]> => [
    [
      `RPC_URL_${chain.chainId}`,
      endpointsOfChain.map((endpoint) => `${config.controlBaseUrl}${rpcPath(chain.chainId, endpoint)}`).join(",")
    ],
    // The sandbox's chains make a block when a transaction arrives and none after it.
    [`CONFIRMATIONS_${chain.chainId}`, "1"],
    // After empty blocks anvil proposes a tip of one gwei, which a chain with traffic would not ask for.
    [`GAS_CEILING_USD_${chain.chainId}`, "100"],
    [`UNISWAP_V2_ROUTER_${chain.chainId}`, chain.contracts.router],
    [`BRIDGE_${chain.chainId}`, chain.contracts.bridge],
    [`ROUTED_SWAP_${chain.chainId}`, chain.contracts.routedSwap],
    [`TRADE_GUARD_${chain.chainId}`, chain.contracts.guard],
    [`ONDO_MANAGER_${chain.chainId}`, chain.contracts.issuerManager],
    [`ONDO_STABLE_${chain.chainId}`, chain.catalog.usdc.address],
    [`ONDO_CHAIN_${chain.chainId}`, issuerChainOf(chain.catalog)],
    [`LIFI_DIAMOND_${chain.chainId}`, chain.contracts.diamond],
    [`SWAP_CONNECTOR_TOKENS_${chain.chainId}`, `${chain.catalog.usdc.address},${chain.catalog.weth.address}`]
  ])
  const environment: Readonly<Record<string, string | undefined>> = {
    ...Object.fromEntries(perChain),
    SOLANA_RPC_URL: `${config.controlBaseUrl}/rpc/${solanaChainId}`,
    SOLANA_AGENT_PRIVATE_KEY: Base58.encode(solanaAgent(secrets.internalToken).secretKey),
    JUPITER_URL: `${config.controlBaseUrl}/jupiter`,
    JUPITER_REQUESTS_PER_MINUTE: "60000",
    ATTESTOR_URL: `${config.controlBaseUrl}/attestor`,
    ATTESTOR_TOKEN: derivedSecret(secrets.internalToken)("attestor token"),
    LIFI_URL: `${config.controlBaseUrl}/lifi/v1`,
    ISSUER_DIRECT: "true",
    ONDO_URL: `${config.controlBaseUrl}/ondo`,
    ONDO_API_KEY: derivedSecret(secrets.internalToken)("ondo"),
    TOKEN_LISTS: `${config.controlBaseUrl}/tokenlist.json`,
    COINGECKO_URL: `${config.controlBaseUrl}/coingecko/api/v3`,
    COINGECKO_REFRESH_PER_MINUTE: "60",
    MASSIVE_REST_URL: `${config.controlBaseUrl}/massive`,
    MASSIVE_API_KEY: derivedSecret(secrets.internalToken)("massive"),
    MASSIVE_REFRESH_PER_MINUTE: "60",
    COINBASE_URL: `${config.controlBaseUrl}/coinbase`,
    XSTOCKS_URL: `${config.controlBaseUrl}/xstocks/api/v2`,
    COUNTRY_HEADER: "x-country-code",
    COINGECKO_API_KEY: Redacted.value(secrets.coingeckoApiKey),
    AGENT_PRIVATE_KEY: Redacted.value(secrets.agentPrivateKey),
    // Named in one place only: who names several accounts has them instead.
    RELAYER_PRIVATE_KEY:
      config.environment["RELAYER_PRIVATE_KEYS"] === undefined ? Redacted.value(secrets.relayerPrivateKey) : undefined,
    API_KEY_PEPPER: Redacted.value(secrets.apiKeyPepper),
    KEY_ENVIRONMENT: "test",
    ADMIN_TOKEN: Redacted.value(secrets.adminToken),
    OPERATOR_ADDRESS: operator,
    INTERNAL_TOKEN: Redacted.value(secrets.internalToken),
    STREAM_URL: config.streamBaseUrl,
    CLOCK_URL: `${config.controlBaseUrl}/clock`,
    RATE_LIMIT_GLOBAL: rateLimit,
    RATE_LIMIT_CRITICAL: rateLimit,
    RATE_LIMIT_GENERAL: rateLimit,
    RATE_LIMIT_BURST: rateLimit,
    APP_ORIGINS: [config.apiBaseUrl, "http://localhost:5173"].join(","),
    WEBHOOK_TARGETS: "loopback",
    BRAND_NAME: "Ballast",
    PUBLIC_URL: config.apiBaseUrl,
    DISCOVERY_INTERVAL_SECONDS: "10",
    VALUATION_INTERVAL_SECONDS: "60",
    ...config.environment,
    // The attestor's own, which signs elsewhere.
    ATTESTOR_PRIVATE_KEY: undefined,
    PORT: `${config.apiPort}`,
    DATA_DIR: join(config.dataDir, "service")
  }
  return environment
})
