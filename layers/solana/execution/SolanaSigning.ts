/** With which key the service acts on Solana, and what it pays at most; and where the portfolios' wallets are. */
import { Context, type Effect, type Option } from "effect"
import type { Grant } from "#domain/account/Grant.ts"
import type { WalletPlace } from "#layers/solana/enrollment/Flow.ts"
import type { Agent } from "#layers/solana/lifecycle/Agent.ts"
import type { FeePolicy } from "#layers/solana/lifecycle/priorityFee.ts"

export class SolanaSigning extends Context.Service<
  SolanaSigning,
  {
    readonly agent: Agent
    readonly fees: FeePolicy
    /** The wallet that an owner enrolled; none where the grant is not about Solana. */
    readonly placeOf: (grant: Grant) => Effect.Effect<Option.Option<WalletPlace>>
  }
>()("ballast/layers/solana/SolanaSigning") {}
