package rules

// Raw gives what the rules raise for a plan, before anything is selected, to the tests outside.
var Raw = raw
