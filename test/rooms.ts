/**
 * Which folder may import which, as data: what is listed is imported, and nothing else is. `test/imports.test.ts`
 * compares it with the imports, and the picture in docs/architecture.md with the contexts.
 *
 * A folder comes after all that it imports. What a folder imports of itself is not listed.
 */

export type Rooms = Readonly<Record<string, ReadonlyArray<string>>>

/**
 * Folders at the root, and what they import of each other: a folder, or of a folder those parts that are named alone.
 * Tests import everything.
 */
export const topFolders: Rooms = {
  domain: [],
  migrations: [],
  layers: ["domain"],
  stream: ["domain"],
  http: ["domain"],
  rpc: ["domain", "http/docs", "http/execution", "http/streaming", "http/ShutdownState.ts"],
  client: ["domain", "http/v1", "http/v2", "http/apiKeyClientLayer.ts", "rpc"],
  sandbox: ["domain", "layers"],
  src: ["domain", "layers", "stream", "http", "rpc", "sandbox"],
  bench: ["domain", "layers", "stream", "rpc", "sandbox"]
}

/** Folders of `domain/`. The value types at its root import none of them, and are free for all. */
export const contexts: Rooms = {
  identity: [],
  request: ["identity"],
  operation: ["identity"],
  event: ["identity", "operation"],
  webhook: ["identity", "event"],
  tenant: ["identity"],
  asset: [],
  chain: [],
  market: [],
  attestation: ["market"],
  marketData: [],
  listing: ["asset", "chain", "marketData"],
  strategy: ["identity", "tenant", "asset", "chain"],
  account: [],
  planning: [],
  relay: ["operation", "chain", "market", "account"],
  trading: ["operation", "asset", "chain", "account", "relay"],
  transfer: ["operation", "chain", "relay", "trading"],
  portfolio: ["identity", "operation", "asset", "chain", "market", "strategy", "trading", "transfer"],
  performance: ["identity", "asset", "chain", "market", "strategy", "portfolio"],
  discovery: ["performance"],
  breakdown: ["asset"],
  enrollment: ["identity", "tenant", "asset", "chain", "strategy", "account", "portfolio"],
  revocation: ["identity", "operation", "chain", "account", "relay", "trading", "enrollment"],
  policy: ["identity", "chain", "account", "enrollment"],
  withdrawal: [
    "identity",
    "operation",
    "asset",
    "chain",
    "market",
    "strategy",
    "account",
    "planning",
    "relay",
    "trading",
    "performance"
  ],
  action: [
    "identity",
    "operation",
    "asset",
    "chain",
    "market",
    "strategy",
    "account",
    "planning",
    "relay",
    "trading",
    "portfolio",
    "performance"
  ],
  rebalance: [
    "identity",
    "operation",
    "asset",
    "chain",
    "market",
    "strategy",
    "account",
    "planning",
    "relay",
    "trading",
    "transfer",
    "portfolio",
    "performance"
  ],
  monitor: ["operation", "chain", "market", "marketData", "listing", "planning", "rebalance"],
  health: ["operation", "relay", "rebalance"],
  backtest: ["asset", "chain", "market", "strategy", "planning", "rebalance"],
  execution: ["identity", "operation", "rebalance"],
  stream: []
}

/** Folders of `layers/`, among each other. */
export const adapters: Rooms = {
  clock: [],
  identity: [],
  sql: [],
  webhook: [],
  provider: ["clock"],
  telemetry: ["clock"],
  engine: ["clock", "sql"],
  evm: ["clock", "provider"],
  solana: ["clock", "provider"],
  stream: ["clock", "provider"],
  issuer: ["provider", "evm"],
  market: ["clock", "sql", "provider"],
  catalogue: ["sql", "market"],
  routing: ["clock", "provider", "evm", "market"],
  attestor: ["clock", "provider", "evm", "market", "routing"]
}

/**
 * Folders of `layers/sql/`, among each other: contexts in their order, the engine's rows (`run`) and the embedded
 * database (`pglite`). Files at its root belong to all of them, or bring them together.
 */
export const stores: Rooms = {
  run: [],
  pglite: [],
  identity: [],
  request: [],
  operation: ["run"],
  event: [],
  webhook: [],
  tenant: [],
  asset: [],
  market: [],
  marketData: [],
  listing: [],
  strategy: [],
  account: ["run", "operation"],
  relay: ["operation"],
  transfer: ["run", "operation"],
  portfolio: [],
  performance: [],
  discovery: [],
  enrollment: ["portfolio"],
  revocation: ["run", "operation"],
  withdrawal: ["run", "operation"],
  action: ["run", "operation", "withdrawal"],
  rebalance: ["run", "operation", "strategy"],
  monitor: ["operation", "rebalance"],
  execution: ["operation"]
}

/** Folders of `http/v2/`, among each other: contexts, and what documents and values of all routes share. */
export const routes: Rooms = {
  values: [],
  meta: ["values"],
  openapi: ["values"],
  request: ["values"],
  asset: ["values"],
  chain: ["values"],
  strategy: ["values"],
  portfolio: ["values"],
  event: ["values", "portfolio"],
  webhook: ["values", "event"],
  performance: ["values", "strategy"],
  discovery: ["values", "strategy", "performance"],
  enrollment: ["values", "portfolio"],
  tenant: ["values", "strategy", "enrollment"],
  revocation: ["values", "portfolio", "enrollment"],
  policy: ["values"],
  withdrawal: ["values", "portfolio"],
  backtest: ["values", "strategy"]
}
