/**
 * What the agent's key may do on each account of a portfolio, read from the chains; unknown where one does not answer.
 */
import { Context, Duration, Effect, Layer, Option, Result } from "effect"
import { authorizedChains } from "#domain/account/Grant.ts"
import { isGuarded, walletRoleOf } from "#domain/account/Permission.ts"
import type { AccountId } from "#domain/values/Caip.ts"
import { EnrollmentStore } from "#domain/enrollment/EnrollmentStore.ts"
import { NotFound } from "#domain/errors/Errors.ts"
import { PortfolioTenant } from "#domain/identity/access/PortfolioTenant.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { type ChainPolicy, type PolicyKind, PolicyReader } from "#domain/policy/ChainPolicy.ts"

/** How long a chain is waited for. */
const timeout = Duration.seconds(10)

export interface AccountPolicy {
  readonly accountId: AccountId
  /** What the owner signed last for the chain; `wallet_role`: the agent's role in the owner's wallet. */
  readonly kind: PolicyKind | "wallet_role"
  /** Null when the chain did not answer, and of a role, which limits the agent to the account alone. */
  readonly chain: ChainPolicy | null
}

/**
 * What the agent's key may do with a portfolio.
 *
 * **When to use**
 *
 * Use in the route that proves permissions. Rules read what owners granted, without a chain:
 * `domain/account/Permission.ts`.
 */
export class Policies extends Context.Service<
  Policies,
  { readonly get: (portfolioId: PortfolioId) => Effect.Effect<ReadonlyArray<AccountPolicy>, NotFound, PortfolioTenant> }
>()("ballast/domain/policy/Policies") {
  static readonly layer = Layer.effect(
    Policies,
    Effect.gen(function* () {
      const store = yield* EnrollmentStore
      const reader = yield* PolicyReader

      const get = Effect.fn("Policies.get")(function* (portfolioId: PortfolioId) {
        const { tenantId } = yield* PortfolioTenant
        const portfolio = yield* store.findEnrolled(tenantId, portfolioId)
        if (Option.isNone(portfolio)) {
          return yield* new NotFound({ message: `There is no portfolio ${portfolioId} that you can access` })
        }
        const { grants } = portfolio.value
        return yield* Effect.forEach(
          authorizedChains(grants),
          Effect.fnUntraced(function* (chain) {
            const { accountId, chainId } = chain
            if (walletRoleOf(chain) !== undefined) {
              return { accountId, kind: "wallet_role", chain: null } satisfies AccountPolicy
            }
            const read = yield* Effect.result(Effect.timeout(reader.read(grants, chainId), timeout))
            if (Result.isFailure(read)) yield* Effect.logWarning(read.failure.message)
            const answer: AccountPolicy = {
              accountId,
              kind: isGuarded(chain) ? "guard" : "call_policy",
              chain: Result.isSuccess(read) ? read.success : null
            }
            return answer
          }),
          { concurrency: "unbounded" }
        )
      })

      return Policies.of({ get })
    })
  )
}
