/** The service itself: the domain's services over the adapters that keep their ports, and the engine. */
import { NodeServices } from "@effect/platform-node"
import { Layer } from "effect"
import { Enrollments } from "#domain/enrollment/Enrollments.ts"
import { ApiKeys } from "#domain/identity/ApiKeys.ts"
import { Tenants } from "#domain/identity/Tenants.ts"
import { Operations } from "#domain/operation/Operations.ts"
import { Portfolios } from "#domain/portfolio/Portfolios.ts"
import { PositionReader } from "#domain/portfolio/PositionReader.ts"
import { Rebalances } from "#domain/rebalance/Rebalances.ts"
import { Strategies } from "#domain/strategy/Strategies.ts"
import { EngineLive, SchedulerLive } from "#layers/engine/EngineLive.ts"
import { ReadinessLive } from "#layers/engine/ReadinessLive.ts"
import { EvmLive } from "#layers/evm/EvmLive.ts"
import { KeyHashLive } from "#layers/identity/KeyHashLive.ts"
import { CoinGecko } from "#layers/market/CoinGecko.ts"
import { PricesLive } from "#layers/market/PricesLive.ts"
import { TokenLists } from "#layers/market/TokenLists.ts"
import { SqlLive } from "#layers/sql/SqlLive.ts"

const Adapters = TokenLists.pipe(
  Layer.provide(NodeServices.layer),
  Layer.provideMerge(Layer.mergeAll(SqlLive, EvmLive, KeyHashLive, PricesLive.pipe(Layer.provide(CoinGecko))))
)

const Engine = ReadinessLive.pipe(Layer.provideMerge(SchedulerLive), Layer.provideMerge(EngineLive))

const Concepts = Layer.mergeAll(
  ApiKeys.layer,
  Tenants.layer,
  Strategies.layer,
  Enrollments.layer,
  Rebalances.layer,
  Operations.layer,
  PositionReader.layer.pipe(Layer.provideMerge(Portfolios.layer))
)

export const Service = Concepts.pipe(Layer.provideMerge(Engine), Layer.provideMerge(Adapters))
