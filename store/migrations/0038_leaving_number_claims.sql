-- Reservations of phone numbers leave with their organisation: whoever creates another one of its name must not inherit the numbers.
CREATE POLICY leaving ON parley.number_claims TO CURRENT_USER USING (org = current_setting('parley.leaving', true));
