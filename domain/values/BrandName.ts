/** The deployment's name in front of people. Filled from the environment by src/Config.ts. */
import { Context } from "effect"

/**
 * The deployment's name in front of people.
 *
 * **When to use**
 *
 * Use in texts and typed-data domains that owners sign.
 */
export class BrandName extends Context.Service<BrandName, string>()("ballast/domain/BrandName") {}
