//! Clients and servers that onetool's own tests talk to.
