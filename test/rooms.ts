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
  rpc: [
    "domain",
    "http/docs",
    "http/operation",
    "http/execution",
    "http/performance",
    "http/portfolio",
    "http/streaming",
    "http/ShutdownState.ts"
  ],
  client: ["domain", "http/client", "http/v2", "rpc"],
  sandbox: ["domain", "layers"],
  src: ["domain", "layers", "stream", "http", "rpc", "client/effect", "sandbox"],
  bench: ["domain", "layers", "stream", "rpc", "sandbox"]
}

/** Folders of `domain/` that every context may import, among each other. They import no context. */
export const foundations: Rooms = {
  errors: [],
  values: ["errors"],
  effects: ["errors", "values"],
  mandate: ["values"]
}

/** The other folders of `domain/`, among each other. */
export const contexts: Rooms = {
  identity: [],
  request: ["identity"],
  operation: ["identity"],
  event: ["identity", "operation"],
  webhook: ["identity", "event"],
  tenant: ["identity"],
  chain: [],
  asset: ["chain"],
  market: [],
  attestation: ["market"],
  marketData: [],
  listing: ["asset", "chain", "marketData"],
  strategy: ["identity", "tenant", "asset", "chain"],
  account: [],
  planning: [],
  relay: ["operation", "chain", "market", "account"],
  trading: ["operation", "asset", "chain", "market", "account", "relay"],
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
  order: [
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
  health: ["chain", "market", "operation", "relay", "rebalance"],
  backtest: ["asset", "chain", "market", "strategy", "planning", "rebalance"],
  execution: ["identity", "request", "operation", "rebalance"],
  stream: []
}

/** Folders of `layers/`, among each other. */
export const adapters: Rooms = {
  clock: [],
  identity: [],
  sql: ["clock"],
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
  relay: ["run", "operation"],
  transfer: ["run", "operation"],
  portfolio: [],
  performance: [],
  discovery: [],
  enrollment: ["portfolio"],
  revocation: ["run", "operation"],
  withdrawal: ["run", "operation"],
  order: ["run", "operation", "withdrawal"],
  rebalance: ["run", "operation", "strategy"],
  monitor: ["operation", "rebalance"],
  health: [],
  execution: ["operation"]
}

/**
 * Folders of `http/`, among each other: first what every wire shares, then the contracts of each wire with their
 * handlers, then what stands around all of them. `http/Routes.ts` brings them together; other files at the root of
 * `http/` import none of them.
 */
export const wires: Rooms = {
  values: [],
  middleware: [],
  streaming: ["values"],
  health: [],
  attestor: [],
  operation: ["values"],
  execution: ["values", "operation"],
  performance: ["values"],
  portfolio: ["values", "operation"],
  openapi: ["values", "middleware"],
  v1: ["values", "middleware", "streaming", "execution", "openapi"],
  v2: ["values", "middleware", "streaming", "operation", "performance", "portfolio", "openapi"],
  admin: ["values", "middleware", "v1"],
  client: ["middleware", "execution", "v1", "v2"],
  serving: ["v1", "v2", "admin"],
  docs: ["openapi", "v1", "v2", "serving"],
  mcp: ["v2", "serving", "docs"]
}

/** Folders of `http/v2/`, among each other: contexts, and what of the API is of none. */
export const routes: Rooms = {
  meta: [],
  request: [],
  asset: [],
  chain: [],
  strategy: [],
  portfolio: [],
  event: [],
  webhook: ["event"],
  performance: ["strategy"],
  discovery: ["strategy"],
  enrollment: [],
  tenant: ["strategy", "enrollment"],
  revocation: ["enrollment"],
  policy: [],
  withdrawal: ["enrollment"],
  backtest: ["strategy"]
}

/** Folders of `sandbox/`, among each other. Files at its root are of the world itself and import none of them. */
export const sandboxRooms: Rooms = {
  process: [],
  assets: [],
  faults: ["assets"],
  chain: ["process", "assets", "faults"],
  solana: ["process", "assets", "faults", "chain"],
  service: ["process", "faults", "chain", "solana"],
  attestor: ["process", "faults", "chain"],
  lifi: ["assets", "faults", "chain"],
  market: ["process", "assets", "faults", "chain", "service"],
  control: ["process", "assets", "faults", "chain", "solana", "service", "attestor", "lifi", "market"]
}

/**
 * Folders one level further down, by the folder that they are in. Files beside them are below them or bring them
 * together.
 */
export const innerRooms: Readonly<Record<string, Rooms>> = {
  "domain/planning": {
    legs: [],
    bands: ["legs"],
    transfers: ["legs"]
  },
  "domain/rebalance": {
    plan: [],
    preview: ["plan"]
  },
  "layers/evm": {
    rpc: [],
    signer: [],
    revert: [],
    account: ["rpc"],
    attestation: ["rpc"],
    token: ["rpc"],
    venue: ["rpc"],
    deployment: [],
    policy: ["rpc", "account"],
    execution: ["rpc", "revert", "account", "signer", "attestation", "venue"],
    revocation: ["rpc", "revert", "account", "execution"],
    withdrawal: ["rpc", "revert", "account", "execution"]
  },
  "layers/solana": {
    rpc: [],
    swig: [],
    token: ["rpc", "swig"],
    guard: ["swig", "token"],
    lifecycle: ["rpc", "swig", "guard"],
    enrollment: ["rpc", "swig", "guard", "lifecycle"],
    trading: ["rpc", "swig", "token", "lifecycle"],
    withdrawal: ["rpc", "swig", "token", "lifecycle", "enrollment"],
    execution: ["rpc", "swig", "token", "lifecycle", "trading", "withdrawal"]
  },
  "layers/market": {
    coingecko: [],
    issuers: ["coingecko"],
    massive: ["coingecko"]
  },
  rpc: {
    session: [],
    input: [],
    native: ["input"],
    execution: ["session"],
    portfolio: ["session"]
  },
  client: {
    transport: [],
    plain: ["transport"],
    signing: ["plain"],
    stream: ["transport"],
    effect: ["stream"]
  },
  src: {
    config: [],
    cli: ["config"],
    service: [],
    demo: []
  }
}
