/**
 * One row a class of `Errors.ts`: its code, its status, and the test file that makes the API answer with it. A
 * class without a row, a row whose file does not assert the class, and a code without words in docs/errors.md all fail.
 */
import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import * as Errors from "#domain/errors/Errors.ts"

const table: Readonly<Record<keyof typeof Errors, readonly [code: string, status: number, producedBy: string]>> = {
  CursorInvalid: ["API_002", 400, "strategy/strategies.test.ts"],
  MethodNotAllowed: ["API_003", 405, "requestContext.test.ts"],
  RateLimited: ["API_004", 429, "rateLimits.test.ts"],
  NotFound: ["API_006", 404, "portfolio/portfolios.test.ts"],
  ReplayInProgress: ["API_007", 409, "enrollment/enrollment.test.ts"],
  ReplayMismatch: ["API_008", 409, "enrollment/enrollment.test.ts"],
  KeyMissing: ["API_101", 401, "authorization.test.ts"],
  KeyInvalid: ["API_102", 401, "authorization.test.ts"],
  KeyExpired: ["API_103", 401, "authorization.test.ts"],
  PermissionDenied: ["API_104", 403, "authorization.test.ts"],
  SessionInvalid: ["API_105", 401, "../rpc/identity.test.ts"],
  SignInRefused: ["API_107", 401, "../rpc/identity.test.ts"],
  TenantDisabled: ["API_106", 403, "authorization.test.ts"],
  PortfolioNotFound: ["API_200", 404, "portfolio/portfolios.test.ts"],
  ExternalIdTaken: ["API_230", 409, "labels.test.ts"],
  PortfolioExists: ["API_202", 409, "enrollment/enrollment.test.ts"],
  OperationNotCancellable: ["API_204", 409, "portfolio/cancellations.test.ts"],
  PlanChanged: ["API_203", 409, "portfolio/previews.test.ts"],
  InsufficientBalance: ["API_210", 400, "withdrawal/withdrawals.test.ts"],
  RecipientInvalid: ["API_211", 400, "withdrawal/withdrawals.test.ts"],
  DuplicateAsset: ["API_212", 400, "withdrawal/withdrawals.test.ts"],
  ChainMismatch: ["API_213", 400, "withdrawal/withdrawals.test.ts"],
  PortfolioMismatch: ["API_214", 400, "withdrawal/withdrawals.test.ts"],
  SmartAccountMissing: ["API_215", 400, "withdrawal/withdrawals.test.ts"],
  AuthorizationExpired: ["API_216", 400, "withdrawal/withdrawals.test.ts"],
  SignatureInvalid: ["API_217", 400, "withdrawal/withdrawals.test.ts"],
  SettlementUnsupported: ["API_219", 400, "withdrawal/liquidations.test.ts"],
  NothingToLiquidate: ["API_220", 400, "withdrawal/liquidations.test.ts"],
  CallsRefused: ["API_221", 400, "legacy/execute.test.ts"],
  WorkflowAsleep: ["API_301", 409, "monitor/monitors.test.ts"],
  ValidationFailed: ["API_400", 400, "strategy/strategies.test.ts"],
  BodyTooLarge: ["API_400", 413, "requestContext.test.ts"],
  VerifierUnavailable: ["API_506", 503, "enrollment/contractOwners.test.ts"],
  IssuerUnavailable: ["API_507", 503, "../rpc/issuerDirect.test.ts"],
  Unavailable: ["API_600", 503, "everyRoute.test.ts"],
  Internal: ["API_600", 500, "requestContext.test.ts"]
}

const textOf = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8")
const page = textOf("../../docs/errors.md")

describe("errors", () => {
  it("every class has a row", () => assert.sameMembers(Object.keys(Errors), Object.keys(table)))

  it("no two classes share code and status", () => {
    const pairs = Object.values(Errors).map(({ contract }) => `${contract.code} ${contract.status}`)
    assert.strictEqual(new Set(pairs).size, pairs.length)
  })

  for (const [name, [code, status, file]] of Object.entries(table)) {
    const error = Errors[name as keyof typeof Errors]

    it(`${name} is ${code} with ${status}, and ${file} produces it`, () => {
      assert.strictEqual(error.contract.code, code)
      assert.strictEqual(error.contract.status, status)
      assert.match(textOf(file), new RegExp(`assertError\\([^;]*\\b${name}\\b`))
    })

    it(`${code} (${status}) is explained`, () => assert.match(page, new RegExp(`^## ${code}\\b.*${status}`, "m")))
  }
})
