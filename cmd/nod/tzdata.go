package main

// The binary includes the time zones, because containers and Windows may not
// have them.
import _ "time/tzdata"
