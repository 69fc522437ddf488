/** Contract: withdrawals that the owner signs, in two stages. Source: shapes 2.22 to 2.24. */
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { ok } from "#http/v2/Envelope.ts"
import { ApiKeyAuth } from "#http/middleware/ApiKeyAuth.ts"
import { EndpointLimit } from "#http/middleware/EndpointLimit.ts"
import { Idempotency } from "#http/middleware/Idempotency.ts"
import { RequestErrors } from "#http/middleware/RequestErrors.ts"
import { Submitted } from "#http/operation/OperationModel.ts"
import { PortfolioIdParam } from "#http/values/values.ts"
import {
  LiquidateAllRequest,
  WithdrawalAuthorization,
  WithdrawalBody,
  WithdrawalRequest
} from "#http/v2/withdrawal/WithdrawalModel.ts"
import { operation } from "#http/openapi/operation.ts"
import {
  AuthorizationExpired,
  ChainMismatch,
  DuplicateAsset,
  InsufficientBalance,
  NothingToLiquidate,
  PortfolioMismatch,
  PortfolioNotFound,
  RecipientInvalid,
  ReplayInProgress,
  ReplayMismatch,
  SettlementUnsupported,
  SignatureInvalid,
  SmartAccountMissing,
  VerifierUnavailable
} from "#http/wireErrors.ts"

const params = { portfolioId: PortfolioIdParam }

const termsErrors = [RecipientInvalid, SmartAccountMissing, SettlementUnsupported] as const
const stage1Errors = [PortfolioNotFound, ...termsErrors, VerifierUnavailable] as const
const stage2Errors = [
  PortfolioNotFound,
  PortfolioMismatch,
  ...termsErrors,
  DuplicateAsset,
  ChainMismatch,
  ReplayInProgress,
  ReplayMismatch,
  AuthorizationExpired,
  SignatureInvalid,
  InsufficientBalance,
  VerifierUnavailable
] as const

const submission =
  "Checks the owner's signature, the expiry and the live balances, and starts the operation to poll. Idempotent on `message.nonce`: the same body is answered the same way again, another body is refused; after any refusal the same body may be sent again. An EVM chain itself carries an authorization out once and not after it expired; on Solana the service does, which begins none in its last 90 seconds."

const prepare = HttpApiEndpoint.post("prepareWithdrawal", "/portfolios/:portfolioId/withdraw/signature", {
  params,
  payload: WithdrawalRequest,
  success: ok(WithdrawalAuthorization),
  error: [...stage1Errors, DuplicateAsset, ChainMismatch, InsufficientBalance]
}).annotateMerge(
  operation({
    id: "prepareWithdrawal",
    summary: "Prepare a withdrawal (stage 1)",
    description:
      "Checks the request against the live balances and issues what the owner signs, valid ten minutes: typed data, and for a recipient on Solana a text. Nothing is stored.",
    scope: "portfolios:withdraw",
    tier: "critical"
  })
)

const withdraw = HttpApiEndpoint.post("withdraw", "/portfolios/:portfolioId/withdraw", {
  params,
  payload: WithdrawalBody,
  success: ok(Submitted).pipe(HttpApiSchema.status(202)),
  error: stage2Errors
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "withdraw",
      summary: "Withdraw (stage 2)",
      description: submission,
      scope: "portfolios:withdraw",
      tier: "critical"
    })
  )

const prepareAll = HttpApiEndpoint.post("prepareLiquidation", "/portfolios/:portfolioId/liquidate-all/signature", {
  params,
  payload: LiquidateAllRequest,
  success: ok(WithdrawalAuthorization),
  error: [...stage1Errors, NothingToLiquidate]
}).annotateMerge(
  operation({
    id: "prepareLiquidation",
    summary: "Prepare the sale of everything (stage 1)",
    description:
      "Picks every priced holding on the recipient's chain that is worth more than the swap threshold, at most 50 and the most valuable first, and issues the typed data that the owner signs, valid ten minutes. Nothing is stored.",
    scope: "portfolios:withdraw",
    tier: "critical"
  })
)

const liquidateAll = HttpApiEndpoint.post("liquidateAll", "/portfolios/:portfolioId/liquidate-all", {
  params,
  payload: WithdrawalBody,
  success: ok(Submitted).pipe(HttpApiSchema.status(202)),
  error: stage2Errors
})
  .middleware(Idempotency)
  .annotateMerge(
    operation({
      id: "liquidateAll",
      summary: "Sell everything and withdraw (stage 2)",
      description: `${submission} The assets are sold and the proceeds delivered in one transaction, or nothing moves. \`message.liquidate\` must be true.`,
      scope: "portfolios:withdraw",
      tier: "critical"
    })
  )

export const Withdrawals = HttpApiGroup.make("withdrawals")
  .annotate(OpenApi.Title, "Withdrawals")
  .annotate(
    OpenApi.Description,
    "Taking assets out of a portfolio by the owner's signature, as they are or sold for the chain's USDC."
  )
  .add(prepare, withdraw, prepareAll, liquidateAll)
  .middleware(RequestErrors)
  .middleware(EndpointLimit)
  .middleware(ApiKeyAuth)
  .prefix("/v2")
