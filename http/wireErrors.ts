/** The v2 wire form of each domain error, ready for contracts. One component schema each in the OpenAPI document. */
import * as Errors from "#domain/Errors.ts"
import { wire, wireRetry } from "#http/wireError.ts"

export const CursorInvalid = wire(Errors.CursorInvalid, "CursorInvalid")
export const RateLimited = wireRetry(Errors.RateLimited)
export const NotFound = wire(Errors.NotFound, "NotFound")
export const ReplayInProgress = wire(Errors.ReplayInProgress, "ReplayInProgress")
export const ReplayMismatch = wire(Errors.ReplayMismatch, "ReplayMismatch")
export const KeyMissing = wire(Errors.KeyMissing, "KeyMissing")
export const KeyInvalid = wire(Errors.KeyInvalid, "KeyInvalid")
export const KeyExpired = wire(Errors.KeyExpired, "KeyExpired")
export const PermissionDenied = wire(Errors.PermissionDenied, "PermissionDenied")
export const TenantDisabled = wire(Errors.TenantDisabled, "TenantDisabled")
export const PortfolioNotFound = wire(Errors.PortfolioNotFound, "PortfolioNotFound")
export const PortfolioExists = wire(Errors.PortfolioExists, "PortfolioExists")
export const ValidationFailed = wire(Errors.ValidationFailed, "ValidationFailed")
export const BodyTooLarge = wire(Errors.BodyTooLarge, "BodyTooLarge")
export const Internal = wire(Errors.Internal, "Internal")
