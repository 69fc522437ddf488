/** Carries a plan out, one transaction after the other. */
import { Effect } from "effect"
import type { Address } from "viem"
import type { DeploymentRefused } from "#layers/evm/deployment/DeploymentRefused.ts"
import type { DeploymentPlan, DeploymentStep } from "#layers/evm/deployment/planDeployment.ts"

/** Whose transactions are sent, and how. `send` answers once the transaction is in a block and did not revert. */
export interface DeploymentSender {
  readonly address: Address
  readonly send: (step: DeploymentStep) => Effect.Effect<void, DeploymentRefused>
}

/** The steps that an account may send now; those behind one that it may not send are not among them. */
export const stepsOf = ({ steps }: DeploymentPlan, sender: Address) => {
  const end = steps.findIndex(({ from }) => from !== null && from !== sender)
  return end === -1 ? steps : steps.slice(0, end)
}

/** The steps that are left for others, which begin with one of another account. */
export const stepsOfOthers = (plan: DeploymentPlan, sender: Address) => plan.steps.slice(stepsOf(plan, sender).length)

/** Sends what the account may send, and reports each step before it is sent. */
export const applyDeployment = Effect.fn("applyDeployment")(function* (
  plan: DeploymentPlan,
  sender: DeploymentSender,
  report: (line: string) => Effect.Effect<void>
) {
  const steps = stepsOf(plan, sender.address)
  for (const [index, step] of steps.entries()) {
    yield* report(`${index + 1} of ${steps.length}: ${step.words}`)
    yield* sender.send(step)
  }
  return steps.length
})
