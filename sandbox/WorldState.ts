import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto/SecureRandom"

/** A tenant of the service as the world's users need it. */
export const WorldTenant = Schema.Struct({
  name: Schema.String,
  apiKey: Schema.String,
  readOnlyApiKey: Schema.String,
  entitlements: Schema.Array(Schema.String)
})
export type WorldTenant = typeof WorldTenant.Type

const Secret = Schema.RedactedFromValue(Schema.String)

/** What survives a restart of the world, chains and database aside. */
export const WorldState = Schema.Struct({
  format: Schema.Literal(1),
  clock: Schema.Struct({
    /** How far the world is ahead of real time, in milliseconds. */
    offset: Schema.Int,
    /** Counts the moves. */
    version: Schema.Int
  }),
  prices: Schema.Record(
    Schema.String,
    Schema.Array(Schema.Struct({ at: Schema.Int, priceUsd: Schema.BigIntFromString }))
  ),
  secrets: Schema.Struct({
    agentPrivateKey: Secret,
    relayerPrivateKey: Secret,
    apiKeyPepper: Secret,
    adminToken: Secret,
    internalToken: Secret,
    coingeckoApiKey: Secret
  }),
  tenants: Schema.Array(WorldTenant),
  /** The tenant that owns the public strategy. */
  operator: Schema.optionalKey(Schema.Struct({ tenant: WorldTenant, strategyId: Schema.optionalKey(Schema.String) }))
})
export type WorldState = typeof WorldState.Type

/** A world that has not begun: fresh keys, the catalogue's prices, real time. */
export const newWorldState = Effect.gen(function* () {
  const random = yield* SecureRandom
  const hex = Effect.map(random.randomBytes(32), (bytes) => Buffer.from(bytes).toString("hex"))
  return yield* Schema.decodeEffect(WorldState)({
    format: 1,
    clock: { offset: 0, version: 1 },
    prices: {},
    secrets: {
      agentPrivateKey: `0x${yield* hex}`,
      relayerPrivateKey: `0x${yield* hex}`,
      apiKeyPepper: yield* hex,
      adminToken: yield* hex,
      internalToken: yield* hex,
      coingeckoApiKey: `CG-${(yield* hex).slice(0, 24)}`
    },
    tenants: []
  }).pipe(Effect.orDie)
})
