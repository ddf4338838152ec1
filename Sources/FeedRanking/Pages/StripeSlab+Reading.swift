extension StripeSlab {
    /// Reads a stripe with its lock held; nil when the allowance is used up.
    ///
    /// A read that ends with a step of a side list begins anew as often as the allowance has it. The
    /// lock is free in between, so no other thread waits for more than one step.
    ///
    /// - Parameters:
    ///   - number: The stripe's number.
    ///   - allowance: What the request may refresh.
    ///   - body: The read; nil where the allowance does not suffice.
    /// - Returns: What the read has found.
    @inline(__always)
    func read<Result: Sendable>(
        _ number: Int,
        _ allowance: inout RefreshAllowance,
        _ body: (inout Stripe, inout RefreshAllowance) -> Result?
    ) -> Result? {
        repeat {
            let result = withStripe(number) { stripe in body(&stripe, &allowance) }
            if let result { return result }
        } while allowance.beginStep()
        return nil
    }
}
