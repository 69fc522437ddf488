/** Checks of a recipient that need the chain, for both stages (API_211). */
import { Effect, Option } from "effect"
import type { AccountId } from "#domain/values/Caip.ts"
import { recipientInvalid, type SourceContext } from "#domain/withdrawal/resolveSource.ts"
import type { WithdrawalVerifier } from "#domain/withdrawal/WithdrawalVerifier.ts"

/** Fails where the recipient would lose what it receives. */
export const requireRecipient = Effect.fnUntraced(function* (
  verifier: Pick<WithdrawalVerifier["Service"], "recipientProblem">,
  recipient: AccountId,
  at: SourceContext["at"]
) {
  const problem = yield* verifier.recipientProblem(recipient)
  if (Option.isSome(problem)) return yield* recipientInvalid(at, problem.value)
})
