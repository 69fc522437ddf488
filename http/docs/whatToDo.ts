/** What a client does about each state of an operation and each reason for which something was not traded. */
import type { OperationState } from "#domain/operation/Operation.ts"
import type { SkipCode } from "#domain/values/Skip.ts"

export const stateAdvice: Readonly<Record<OperationState, string>> = {
  accepted: "wait: it is queued",
  running: "wait: poll every 2 to 5 seconds, or follow its events",
  retrying: "wait: a chain or a provider did not answer, and it is tried again by itself",
  awaiting_user: "the owner has to sign; `attention` of the portfolio names what",
  completed: "read `outcome` and `result`",
  failed: "read `error`; nothing of it happens any more, and a new operation may be started",
  cancelled: "read `result`: what was sent before is listed there, and nothing more is sent"
}

const asItShouldBe = "nothing: it is as it should be; lower the strategy's thresholds for more"
const laterRun = "wait: a later run goes on"
const soonAgain = "wait: the service tries again within minutes; then ask the operator"
const marketClosed = "wait for the market to open; if it stays, take the asset out"
const signAnew = "let the owner sign anew"
const widen = "widen the strategy's limits, let its policy trade in slices, or give the asset less weight"
const notAskedFor = "nothing: nobody asked for it; name it in the strategy to have it counted"
const takeOut = "take the asset out, or add one on its chain that can be traded"

export const skipAdvice: Readonly<Record<SkipCode, string>> = {
  BELOW_MIN_TRADE: asItShouldBe,
  BELOW_MIN_TRANSFER: asItShouldBe,
  WITHIN_BAND: asItShouldBe,
  NOT_WORTH_COST: asItShouldBe,
  COST_LIMIT: laterRun,
  GAS_REFUSED: laterRun,
  SLICED: "wait: the next slice is made within the hour, or once the pool takes one",
  IN_TRANSIT: laterRun,
  CROSS_CHAIN_PENDING: laterRun,
  CHAIN_UNAVAILABLE: soonAgain,
  PRICES_UNAVAILABLE: soonAgain,
  ROUTES_UNAVAILABLE: soonAgain,
  BALANCE_UNKNOWN: soonAgain,
  NO_MARKET: notAskedFor,
  STALE_PRICE: marketClosed,
  FEED_STALE: marketClosed,
  SEQUENCER_DOWN: laterRun,
  PRICE_NOT_ATTESTED: marketClosed,
  MISSING_PRICE: marketClosed,
  SIGNATURE_REQUIRED: signAnew,
  NOT_AUTHORIZED: signAnew,
  PRICE_IMPACT: widen,
  NO_ROUTE: widen,
  TRANSFER_REFUSED: widen,
  SIMULATION_FAILED: widen,
  CANCELLED: "trigger a rebalance, or wait for the schedule",
  FOREIGN_AUTHORITY: "withdraw it, deposit nothing, and replace the agent's key; `attention` says who may move it",
  ASSET_BLOCKED: takeOut,
  NO_COUNTERPART: takeOut
}
