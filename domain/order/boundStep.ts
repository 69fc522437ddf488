/** A client's step of a route, made for the contract that includes it. */
import type { Address } from "#domain/values/Caip.ts"

type Json = Readonly<Record<string, unknown>>

const isRecord = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const boundAction = (action: unknown, contract: Address, slippage: number | undefined): unknown =>
  isRecord(action)
    ? { ...action, fromAddress: contract, toAddress: contract, ...(slippage === undefined ? {} : { slippage }) }
    : action

/**
 * A client's step for the contract that includes it: the provider builds a transaction in which that contract
 * sells and receives, since the account trades through it alone. What the client began or built of it does not count.
 * Pure.
 *
 * `slippageBps` null: as the step has it.
 */
export const boundStep = (step: unknown, contract: Address, slippageBps: number | null): unknown => {
  if (!isRecord(step)) return step
  const { execution: _execution, transactionRequest: _transaction, typedData: _typed, ...rest } = step
  const slippage = slippageBps === null ? undefined : slippageBps / 10_000
  const bound = { ...rest, action: boundAction(rest["action"], contract, slippage) }
  const { includedSteps } = rest
  return Array.isArray(includedSteps)
    ? { ...bound, includedSteps: includedSteps.map((one: unknown) => boundStep(one, contract, slippageBps)) }
    : bound
}
