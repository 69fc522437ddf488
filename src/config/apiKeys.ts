/** Reads the peppers under which API keys are stored, and where the keys of this deployment work. */
import { oneOf, secret } from "#src/config/kinds.ts"
import { optional, required, withDefault } from "#src/config/Setting.ts"

/** How to make a secret of this kind. */
export const randomHex = "the output of: openssl rand -hex 32"

const pepperText = secret(/^[!-~]{32,200}$/, "32 to 200 printable characters without spaces", randomHex)

export const pepper = required("API_KEY_PEPPER", pepperText)

/** Pepper for programs that need it only to make keys. */
export const pepperIfAny = optional("API_KEY_PEPPER", pepperText)

export const otherPepper = optional("API_KEY_PEPPER_OTHER", pepperText)

export const keyEnvironment = withDefault("KEY_ENVIRONMENT", oneOf(["live", "test"]), "live")
